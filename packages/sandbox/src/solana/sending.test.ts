import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstructions,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  generateKeyPairSigner,
  getAddressEncoder,
  getBase64EncodedWireTransaction,
  getBase64Decoder,
  getBase64Encoder,
  getCompiledTransactionMessageEncoder,
  compileTransactionMessage,
  getProgramDerivedAddress,
  getSignatureFromTransaction,
  type Instruction,
  isSolanaError,
  type KeyPairSigner,
  lamports,
  type Nonce,
  pipe,
  setTransactionMessageComputeUnitLimit,
  setTransactionMessageComputeUnitPrice,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  setTransactionMessageLifetimeUsingDurableNonce,
  setTransactionMessageLoadedAccountsDataSizeLimit,
  setTransactionMessagePriorityFeeLamports,
  signTransactionMessageWithSigners,
  SOLANA_ERROR__JSON_RPC__INVALID_PARAMS,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_VERIFICATION_FAILURE,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION,
  SOLANA_ERROR__RPC__TRANSPORT_HTTP_ERROR,
} from "@solana/kit";
import {
  fetchNonce,
  getCreateAccountInstruction,
  getInitializeNonceAccountInstruction,
  getNonceSize,
  getTransferSolInstruction,
} from "@solana-program/system";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSolanaChain, type SolanaChain } from "./index.ts";
import { SYSTEM_PROGRAM_ADDRESS } from "./svm/programs.ts";
import { codeOf, connectWallet, type Signed, type TestWallet } from "./test-wallet.ts";

const LOOKUP_TABLE_PROGRAM = address("AddressLookupTab1e1111111111111111111111111");
const RPC_CONFIG = { encoding: "base64", skipPreflight: true } as const;

let chain: SolanaChain;
let wallet: TestWallet;
let payer: KeyPairSigner;
let other: KeyPairSigner;

beforeEach(async () => {
  chain = await createSolanaChain();
  wallet = connectWallet(chain.url);
  [payer, other] = await Promise.all([generateKeyPairSigner(), generateKeyPairSigner()]);
  await chain.airdrop({ to: payer.address, amount: 10_000_000_000n });
});

afterEach(() => chain.close());

const transferSol = (amount = 1_000_000_000n) =>
  getTransferSolInstruction({
    source: payer,
    destination: other.address,
    amount: lamports(amount),
  });

const latest = async () =>
  (await wallet.rpc.getLatestBlockhash({ commitment: "processed" }).send()).value;

/** Returns the same transaction with an invalid signature. */
function corruptSignature({ wire }: Signed): Signed["wire"] {
  const bytes = Uint8Array.from(getBase64Encoder().encode(wire));
  bytes[10] = (bytes[10] ?? 0) ^ 1;
  // CAST: the text is still base64 of a transaction; only its signature is invalid.
  return getBase64Decoder().decode(bytes) as Signed["wire"];
}

describe("sendTransaction", () => {
  test("with an invalid signature leaves no trace, and preflight returns the reason", async () => {
    const wire = corruptSignature(await wallet.sign(payer, [transferSol()]));
    expect(await codeOf(wallet.post({ wire }, false))).toBe(
      SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_VERIFICATION_FAILURE,
    );
    const signature = await wallet.post({ wire });
    await chain.tick();
    expect(await wallet.statusOf(signature)).toBeNull();
    expect(await wallet.balanceOf(payer.address)).toBe(10_000_000_000n);
  });

  test("of a payer who cannot pay the fee leaves no trace", async () => {
    const signature = await wallet.send(other, [
      getTransferSolInstruction({ source: other, destination: payer.address, amount: 1n }),
    ]);
    await chain.tick();
    expect(await wallet.statusOf(signature)).toBeNull();
  });

  test("of the same bytes is included once and returns the same signature", async () => {
    const signed = await wallet.sign(payer, [transferSol()]);
    const answers = [await wallet.post(signed), await wallet.post(signed)];
    await chain.tick();
    answers.push(await wallet.post(signed));
    await chain.tick();
    expect(answers).toEqual([signed.signature, signed.signature, signed.signature]);
    expect(await wallet.balanceOf(other.address)).toBe(1_000_000_000n);
    const rejected: unknown = await wallet.post(signed, false).catch((error: unknown) => error);
    expect(rejected).toMatchObject({
      cause: { context: { __code: expect.any(Number) } },
      context: {
        __code: SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
      },
    });
  });

  test("that would fail is rejected by preflight with the program's error and logs", async () => {
    const signed = await wallet.sign(payer, [transferSol(10n ** 15n)]);
    const rejected: unknown = await wallet.post(signed, false).catch((error: unknown) => error);
    expect(rejected).toMatchObject({
      context: {
        __code: SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
        logs: expect.arrayContaining([expect.stringContaining("insufficient lamports")]),
      },
    });
  });

  test("with a blockhash unknown at the preflight commitment level is rejected", async () => {
    await chain.tick(2);
    const signed = await wallet.sign(payer, [transferSol()], { lifetime: await latest() });
    const send = (preflightCommitment: "processed" | "finalized") =>
      wallet.rpc.sendTransaction(signed.wire, { encoding: "base64", preflightCommitment }).send();
    expect(await codeOf(send("finalized"))).toBe(
      SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
    );
    expect(await send("processed")).toBe(signed.signature);
  });

  test("of more than 1,232 bytes is rejected, although the SVM would accept it", async () => {
    const signed = await wallet.sign(payer, [
      transferSol(),
      ...Array.from({ length: 20 }, () => ({
        programAddress: address("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"),
        data: new Uint8Array(60).fill(65),
      })),
    ]);
    expect(getBase64Encoder().encode(signed.wire).length).toBeGreaterThan(1_232);
    expect(await codeOf(wallet.post(signed))).toBe(SOLANA_ERROR__JSON_RPC__INVALID_PARAMS);
  });

  test("is accepted and dropped, as often as set by dropNextSends", async () => {
    await chain.dropNextSends(1);
    const lost = await wallet.sign(payer, [transferSol()]);
    expect(await wallet.post(lost)).toBe(lost.signature);
    await chain.tick();
    expect(await wallet.statusOf(lost.signature)).toBeNull();
    await wallet.post(lost);
    await chain.tick();
    expect(await wallet.statusOf(lost.signature)).toMatchObject({ err: null });
  });

  test("expires after 150 blocks, regardless of skipped slots", async () => {
    const [early, late] = await Promise.all([
      wallet.sign(payer, [transferSol(1_000_000n)], { lifetime: await latest() }),
      wallet.sign(payer, [transferSol(2_000_000n)], { lifetime: await latest() }),
    ]);
    await chain.tick(149);
    await chain.skipSlots(500);
    await wallet.post(early);
    await chain.tick();
    expect(await wallet.rpc.getBlockHeight({ commitment: "processed" }).send()).toBe(
      early.lastValidBlockHeight,
    );
    await wallet.post(late);
    await chain.tick();
    expect(await wallet.statusOf(early.signature)).toMatchObject({ err: null });
    expect(await wallet.statusOf(late.signature)).toBeNull();
    expect(await codeOf(wallet.post(late, false))).toBe(
      SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
    );
  });
});

describe("durable nonce", () => {
  let nonceAccount: KeyPairSigner;

  beforeEach(async () => {
    nonceAccount = await generateKeyPairSigner();
    const space = BigInt(getNonceSize());
    await wallet.send(payer, [
      getCreateAccountInstruction({
        payer,
        newAccount: nonceAccount,
        lamports: 1_447_680n,
        space,
        programAddress: SYSTEM_PROGRAM_ADDRESS,
      }),
      getInitializeNonceAccountInstruction({
        nonceAccount: nonceAccount.address,
        nonceAuthority: payer.address,
      }),
    ]);
    await chain.tick();
  });

  const readNonce = async () =>
    (await fetchNonce(wallet.rpc, nonceAccount.address, { commitment: "processed" })).data
      .blockhash;

  async function signWithNonce(instruction: Instruction): Promise<Signed> {
    // CAST: the client brands the value as a nonce only where it reads it itself.
    const nonce = String(await readNonce()) as Nonce;
    const signed = await signTransactionMessageWithSigners(
      pipe(
        createTransactionMessage({ version: 0 }),
        (m) => setTransactionMessageFeePayerSigner(payer, m),
        (m) =>
          setTransactionMessageLifetimeUsingDurableNonce(
            {
              nonce,
              nonceAccountAddress: nonceAccount.address,
              nonceAuthorityAddress: payer.address,
            },
            m,
          ),
        (m) => appendTransactionMessageInstructions([instruction], m),
      ),
    );
    return {
      wire: getBase64EncodedWireTransaction(signed),
      signature: getSignatureFromTransaction(signed),
      lastValidBlockHeight: 0n,
    };
  }

  test("keeps a transaction valid until the nonce advances, and then makes it permanently invalid", async () => {
    const signed = await signWithNonce(transferSol());
    await chain.tick(200);
    expect(await wallet.post(signed, false)).toBe(signed.signature);
    await chain.tick();
    expect(await wallet.statusOf(signed.signature)).toMatchObject({ err: null });
    await chain.tick();
    const again = await signWithNonce(transferSol());
    await wallet.post(again);
    await chain.tick();
    expect(await wallet.statusOf(again.signature)).toMatchObject({ err: null });
    await wallet.post(again);
    await chain.tick();
    expect(await wallet.balanceOf(other.address)).toBe(2_000_000_000n);
  });

  test("is advanced by a transaction that fails", async () => {
    const before = await readNonce();
    const failing = await signWithNonce(transferSol(10n ** 15n));
    const rival = await signWithNonce(transferSol());
    await wallet.post(failing);
    await chain.tick();
    expect((await wallet.statusOf(failing.signature))?.err).not.toBeNull();
    expect(await readNonce()).not.toBe(before);
    await wallet.post(rival);
    await chain.tick();
    expect(await wallet.statusOf(rival.signature)).toBeNull();
    const next = await signWithNonce(transferSol());
    await wallet.post(next);
    await chain.tick();
    expect(await wallet.statusOf(next.signature)).toMatchObject({ err: null });
  });
});

describe("version 1 transaction", () => {
  test("is included, and its block is rejected for clients that do not support the version", async () => {
    const signature = await wallet.send(payer, [transferSol()], { version: 1 });
    const slot = await chain.tick();
    await chain.tick(32);
    expect(await wallet.statusOf(signature)).toMatchObject({ err: null });
    const read = (maxSupportedTransactionVersion: 0 | 1) =>
      wallet.rpc
        .getBlock(slot, { maxSupportedTransactionVersion, transactionDetails: "accounts" })
        .send();
    expect(await codeOf(read(0))).toBe(
      SOLANA_ERROR__JSON_RPC__SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION,
    );
    expect((await read(1))?.transactions).toMatchObject([{ version: 1, meta: { fee: 5_000n } }]);
  });
});

describe("lookup table", () => {
  test("provides accounts, which blocks list with their source", async () => {
    const table = await createTable([other.address]);
    const lifetime = await latest();
    const signed = await signTransactionMessageWithSigners(
      pipe(
        createTransactionMessage({ version: 0 }),
        (m) => setTransactionMessageFeePayerSigner(payer, m),
        (m) => setTransactionMessageLifetimeUsingBlockhash(lifetime, m),
        (m) => appendTransactionMessageInstructions([transferSol()], m),
        (m) => compressTransactionMessageUsingAddressLookupTables(m, { [table]: [other.address] }),
      ),
    );
    const signature = await wallet.rpc
      .sendTransaction(getBase64EncodedWireTransaction(signed), RPC_CONFIG)
      .send();
    const slot = await chain.tick();
    await chain.tick(32);
    expect(await wallet.statusOf(signature)).toMatchObject({ err: null });
    const found = await wallet.rpc
      .getBlock(slot, { maxSupportedTransactionVersion: 1, transactionDetails: "accounts" })
      .send();
    expect(found?.transactions[0]?.transaction.accountKeys.at(-1)).toEqual({
      pubkey: other.address,
      signer: false,
      writable: true,
      source: "lookupTable",
    });
    expect(found?.transactions[0]?.meta?.postBalances.at(-1)).toBe(1_000_000_000n);
    const whole = await wallet.rpc
      .getTransaction(signature, { maxSupportedTransactionVersion: 1, encoding: "json" })
      .send();
    expect(whole?.meta?.loadedAddresses).toEqual({ writable: [other.address], readonly: [] });
  });

  test("that does not exist leaves no trace of the transaction", async () => {
    const nowhere = (await generateKeyPairSigner()).address;
    const lifetime = await latest();
    const signed = await signTransactionMessageWithSigners(
      pipe(
        createTransactionMessage({ version: 0 }),
        (m) => setTransactionMessageFeePayerSigner(payer, m),
        (m) => setTransactionMessageLifetimeUsingBlockhash(lifetime, m),
        (m) => appendTransactionMessageInstructions([transferSol()], m),
        (m) =>
          compressTransactionMessageUsingAddressLookupTables(m, { [nowhere]: [other.address] }),
      ),
    );
    const wire = getBase64EncodedWireTransaction(signed);
    expect(await codeOf(wallet.post({ wire }, false))).toBe(
      SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
    );
    const signature = await wallet.post({ wire });
    await chain.tick();
    expect(await wallet.statusOf(signature)).toBeNull();
  });

  async function createTable(addresses: readonly Address[]): Promise<Address> {
    const recentSlot = await wallet.rpc.getSlot({ commitment: "processed" }).send();
    const slotBytes = new Uint8Array(8);
    new DataView(slotBytes.buffer).setBigUint64(0, recentSlot, true);
    const [table, bump] = await getProgramDerivedAddress({
      programAddress: LOOKUP_TABLE_PROGRAM,
      seeds: [getAddressEncoder().encode(payer.address), slotBytes],
    });
    const accounts = [
      { address: table, role: AccountRole.WRITABLE },
      { address: payer.address, role: AccountRole.READONLY_SIGNER },
      { address: payer.address, role: AccountRole.WRITABLE_SIGNER },
      { address: SYSTEM_PROGRAM_ADDRESS, role: AccountRole.READONLY },
    ];
    const count = new Uint8Array(8);
    count[0] = addresses.length;
    await wallet.send(payer, [
      {
        programAddress: LOOKUP_TABLE_PROGRAM,
        accounts,
        data: Uint8Array.from([0, 0, 0, 0, ...slotBytes, bump]),
      },
      {
        programAddress: LOOKUP_TABLE_PROGRAM,
        accounts,
        data: Uint8Array.from([
          2,
          0,
          0,
          0,
          ...count,
          ...addresses.flatMap((one) => [...getAddressEncoder().encode(one)]),
        ]),
      },
    ]);
    await chain.tick(2);
    return table;
  }
});

describe("fees", () => {
  test.each([0, 1] as const)(
    "of version %i equal the fee that the SVM charges",
    async (version) => {
      const lifetime = await latest();
      const legacy = pipe(
        createTransactionMessage({ version: 0 }),
        (m) => setTransactionMessageFeePayerSigner(payer, m),
        (m) => setTransactionMessageLifetimeUsingBlockhash(lifetime, m),
        (m) => setTransactionMessageComputeUnitPrice(1_234_567n, m),
        (m) => setTransactionMessageComputeUnitLimit(9_000, m),
        (m) => appendTransactionMessageInstructions([transferSol()], m),
      );
      const modern = pipe(
        createTransactionMessage({ version: 1 }),
        (m) => setTransactionMessageFeePayerSigner(payer, m),
        (m) => setTransactionMessageLifetimeUsingBlockhash(lifetime, m),
        (m) => setTransactionMessageComputeUnitLimit(9_000, m),
        (m) => setTransactionMessageLoadedAccountsDataSizeLimit(1_000_000, m),
        (m) => setTransactionMessagePriorityFeeLamports(11_112n, m),
        (m) => appendTransactionMessageInstructions([transferSol()], m),
      );
      const signed =
        version === 0
          ? await signTransactionMessageWithSigners(legacy)
          : await signTransactionMessageWithSigners(modern);
      const compiled =
        version === 0 ? compileTransactionMessage(legacy) : compileTransactionMessage(modern);
      const bytes = getCompiledTransactionMessageEncoder().encode(compiled);
      // CAST: the client brands message bytes in a form that its encoder does not return.
      const message = getBase64Decoder().decode(bytes) as Parameters<
        typeof wallet.rpc.getFeeForMessage
      >[0];
      const told = await wallet.rpc.getFeeForMessage(message, { commitment: "processed" }).send();
      await wallet.rpc.sendTransaction(getBase64EncodedWireTransaction(signed), RPC_CONFIG).send();
      await chain.tick();
      const left = await wallet.balanceOf(payer.address);
      expect(10_000_000_000n - left - 1_000_000_000n).toBe(16_112n);
      expect(told.value).toBe(16_112n);
    },
  );

  test("of recent blocks are returned by getRecentPrioritizationFees", async () => {
    const lifetime = await latest();
    const signed = await signTransactionMessageWithSigners(
      pipe(
        createTransactionMessage({ version: 0 }),
        (m) => setTransactionMessageFeePayerSigner(payer, m),
        (m) => setTransactionMessageLifetimeUsingBlockhash(lifetime, m),
        (m) => setTransactionMessageComputeUnitPrice(777n, m),
        (m) => appendTransactionMessageInstructions([transferSol()], m),
      ),
    );
    await wallet.rpc.sendTransaction(getBase64EncodedWireTransaction(signed), RPC_CONFIG).send();
    const slot = await chain.tick();
    const feesOf = async (...addresses: Address[]) => {
      const fees = await wallet.rpc.getRecentPrioritizationFees(addresses).send();
      return fees.find((fee) => fee.slot === slot)?.prioritizationFee;
    };
    expect(await feesOf(other.address)).toBe(777n);
    expect(await feesOf(LOOKUP_TABLE_PROGRAM)).toBe(0n);
  });
});

describe("simulateTransaction", () => {
  test("changes nothing and returns the accounts as of after it", async () => {
    const { wire } = await wallet.sign(payer, [transferSol()]);
    const { value } = await wallet.rpc
      .simulateTransaction(wire, {
        encoding: "base64",
        commitment: "processed",
        accounts: { addresses: [other.address], encoding: "base64" },
      })
      .send();
    expect(value).toMatchObject({
      err: null,
      unitsConsumed: 150n,
      accounts: [{ lamports: 1_000_000_000n }],
    });
    expect(await wallet.balanceOf(other.address)).toBe(0n);
  });

  test("needs neither signatures nor a valid blockhash if the options say so", async () => {
    const signed = await wallet.sign(payer, [transferSol()]);
    await chain.tick(200);
    const simulate = (options: { replaceRecentBlockhash?: true; sigVerify?: true }) =>
      rpcCall("simulateTransaction", [
        corruptSignature(signed),
        { encoding: "base64", commitment: "processed", ...options },
      ]);
    expect(await simulate({})).toMatchObject({ result: { value: { err: "BlockhashNotFound" } } });
    expect(await simulate({ replaceRecentBlockhash: true })).toMatchObject({
      result: { value: { err: null, replacementBlockhash: { blockhash: expect.any(String) } } },
    });
    expect(await simulate({ replaceRecentBlockhash: true, sigVerify: true })).toMatchObject({
      error: { code: -32602 },
    });
  });
});

describe("server", () => {
  test("responds with 429 as set by rateLimitNext", async () => {
    await chain.rateLimitNext(1);
    const rejected: unknown = await wallet.rpc
      .getSlot()
      .send()
      .catch((error: unknown) => error);
    expect(isSolanaError(rejected, SOLANA_ERROR__RPC__TRANSPORT_HTTP_ERROR)).toBe(true);
    expect(rejected).toMatchObject({ context: { statusCode: 429 } });
    expect(await wallet.rpc.getSlot().send()).toBe(100n);
  });

  test("responds with an error as set by failNext, as often as set", async () => {
    await chain.failNext({ method: "getBlock", code: -32007, message: "a lie", count: 2 });
    const ask = () => rpcCall("getBlock", [100]);
    expect(await ask()).toMatchObject({ error: { code: -32007, message: "a lie" } });
    expect(await rpcCall("getSlot", [])).toMatchObject({ result: 100 });
    await chain.clearFaults();
    expect(await ask()).toMatchObject({ result: { parentSlot: 99 } });
  });

  test("handles batches, and returns the error of an invalid request", async () => {
    const body = [
      { jsonrpc: "2.0", id: 7, method: "getHealth" },
      { jsonrpc: "2.0", id: 8, method: "getNothing" },
      { jsonrpc: "2.0", id: 9, method: "getBalance", params: ["not an address"] },
      { id: 10 },
    ];
    expect(await post(JSON.stringify(body))).toMatchObject([
      { id: 7, result: "ok" },
      { id: 8, error: { code: -32601 } },
      { id: 9, error: { code: -32602 } },
      { id: 10, error: { code: -32600 } },
    ]);
    expect(await post("{")).toMatchObject({ error: { code: -32700 } });
  });

  test("formats 64-bit integers as plain numbers", async () => {
    const text = await (
      await fetch(chain.url, {
        method: "POST",
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "getAccountInfo",
          params: [payer.address, { encoding: "base64", commitment: "processed" }],
        }),
      })
    ).text();
    expect(text).toContain(`"rentEpoch":18446744073709551615`);
  });
});

async function rpcCall(method: string, params: readonly unknown[]): Promise<unknown> {
  return post(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
}

async function post(body: string): Promise<unknown> {
  return (await fetch(chain.url, { method: "POST", body })).json();
}
