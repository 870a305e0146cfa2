/** Deposits read from blocks: SOL and tokens of both programs, in any kind of transaction. */
import {
  getBlockAfter,
  listNativeTransfers,
  listTransfers,
} from "../../../test/support/read-block.ts";
import { getTransferSolInstruction } from "@solana-program/system";
import {
  AuthorityType,
  getApproveInstruction,
  getCreateAssociatedTokenIdempotentInstructionAsync,
  getRecoverNestedAssociatedTokenInstructionAsync,
  getSetAuthorityInstruction,
  getSyncNativeInstruction,
  getTokenDecoder,
  getTokenEncoder,
  getTransferCheckedInstruction,
} from "@solana-program/token";
import {
  address,
  type AddressesByLookupTableAddress,
  appendTransactionMessageInstructions,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  generateKeyPairSigner,
  getAddressEncoder,
  getBase64EncodedWireTransaction,
  getCompiledTransactionMessageDecoder,
  type Instruction,
  type KeyPairSigner,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  type Signature,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import { connectWallet } from "../../../../sandbox/src/solana/test-wallet.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commitmentOf, rentOf } from "../../../test/support/solana-svm.ts";
import { type SolanaWorld, startSolanaWorld } from "../../../test/support/solana-world.ts";
import { type Address, NATIVE_SOL, type TxHash } from "../../core/hex.ts";
import type { Transfer } from "../port/index.ts";
import { type Base58, fromBase58, fromSignature, toBase58 } from "./base58.ts";
import { associatedAccountOf, TOKEN_PROGRAMS, WRAPPED_SOL } from "./derived-accounts.ts";

const SOL = 1_000_000_000n;
let world: SolanaWorld;
let wallet: ReturnType<typeof connectWallet>;
let payer: KeyPairSigner;
let count = 0;

beforeAll(async () => {
  world = await startSolanaWorld();
  wallet = connectWallet(world.sandbox.url);
  payer = await generateKeyPairSigner();
  await world.give(NATIVE_SOL, fromBase58(payer.address), 1_000n * SOL);
  await world.give(world.usdc, fromBase58(payer.address), 10n ** 12n);
  await world.finalize();
});
afterAll(() => world.close());

const newVault = () => world.issue(commitmentOf(++count));

/** Sends one transaction and returns the movements of the watched wallets in its block. */
async function arrivalsOf(
  instructions: readonly Instruction[],
  {
    watched,
    tokens = [],
    version = 0,
    lookup,
  }: {
    watched: readonly Address[];
    tokens?: readonly Address[];
    version?: 0 | 1;
    lookup?: AddressesByLookupTableAddress;
  },
): Promise<{
  readonly sol: readonly Transfer[];
  readonly tokens: Transfer[];
  readonly txHash: TxHash;
}> {
  const { here, sandbox } = world;
  const signature = lookup
    ? await sendByTable(instructions, lookup)
    : await wallet.send(payer, instructions, { version });
  const slot = await sandbox.tick();
  await world.finalize();
  const block = await here.getBlock(slot);
  if (!block) throw new Error("no block");
  const all = await listTransfers(here, block, tokens);
  return {
    sol: await listNativeTransfers(here, block, async () => new Set(watched)),
    tokens: all.filter(({ to }) => watched.includes(to)),
    txHash: fromSignature(signature),
  };
}

/** Sends a transaction that takes its accounts from a lookup table where possible. */
async function sendByTable(
  instructions: readonly Instruction[],
  lookup: AddressesByLookupTableAddress,
): Promise<Signature> {
  const { value: lifetime } = await wallet.rpc
    .getLatestBlockhash({ commitment: "confirmed" })
    .send();
  const signed = await signTransactionMessageWithSigners(
    pipe(
      createTransactionMessage({ version: 0 }),
      (m) => setTransactionMessageFeePayerSigner(payer, m),
      (m) => setTransactionMessageLifetimeUsingBlockhash(lifetime, m),
      (m) => appendTransactionMessageInstructions(instructions, m),
      (m) => compressTransactionMessageUsingAddressLookupTables(m, lookup),
    ),
  );
  // The test proves nothing unless accounts come from the table.
  const message = getCompiledTransactionMessageDecoder().decode(signed.messageBytes);
  expect(message).toHaveProperty("addressTableLookups.length", 1);
  return wallet.post({ wire: getBase64EncodedWireTransaction(signed) });
}

/** Creates a lookup table of the payer. */
async function createTable(addresses: readonly Base58[]): Promise<AddressesByLookupTableAddress> {
  const table = (await generateKeyPairSigner()).address;
  const data = new Uint8Array(56 + 32 * addresses.length);
  const header = new DataView(data.buffer);
  // An active table of the payer, extended long ago.
  header.setUint32(0, 1, true);
  header.setBigUint64(4, 2n ** 64n - 1n, true);
  data[21] = 1;
  const encoder = getAddressEncoder();
  data.set(encoder.encode(payer.address), 22);
  addresses.forEach((one, index) => data.set(encoder.encode(one), 56 + 32 * index));
  const account = {
    lamports: lamports(rentOf(data.length)),
    data,
    programAddress: address("AddressLookupTab1e1111111111111111111111111"),
    executable: false,
  };
  world.sandbox.chain.write(table, account, "always");
  return { [table]: [...addresses] };
}

const sendSol = (to: Address, amount: bigint) =>
  getTransferSolInstruction({
    source: payer,
    destination: toBase58(to),
    amount: lamports(amount),
  });

async function sendTokens(token: Address, to: Address, amount: bigint): Promise<Instruction[]> {
  const { program } = world.deployment.facts.mintFactsOf(token);
  const owner = fromBase58(payer.address);
  return [
    await getCreateAssociatedTokenIdempotentInstructionAsync({
      payer,
      owner: toBase58(to),
      mint: toBase58(token),
      tokenProgram: TOKEN_PROGRAMS[program],
    }),
    getTransferCheckedInstruction(
      {
        source: toBase58(await associatedAccountOf(owner, token, program)),
        mint: toBase58(token),
        destination: toBase58(await associatedAccountOf(to, token, program)),
        authority: payer,
        amount,
        decimals: 6,
      },
      { programAddress: TOKEN_PROGRAMS[program] },
    ),
  ];
}

describe.each([0, 1] as const)("a transaction of version %s", (version) => {
  test("brings SOL and a token to two wallets [T35]", async () => {
    const [one, other] = [await newVault(), await newVault()];
    const { usdc } = world;
    const arrived = await arrivalsOf(
      [
        sendSol(one, 5_000_000n),
        sendSol(other, 6_000_000n),
        ...(await sendTokens(usdc, one, 7n)),
        ...(await sendTokens(usdc, other, 8n)),
      ],
      { watched: [one, other], tokens: [usdc], version },
    );
    const from = fromBase58(payer.address);
    const sol = { token: NATIVE_SOL, from, logIndex: 0 };
    expect(new Set(arrived.sol.map(({ to, amount }) => `${to}:${amount}`))).toEqual(
      new Set([`${one}:5000000`, `${other}:6000000`]),
    );
    expect(arrived.sol).toEqual([expect.objectContaining(sol), expect.objectContaining(sol)]);
    expect(new Set(arrived.sol.map(({ ordinal }) => ordinal)).size).toBe(2);
    const tokens = arrived.tokens.map(({ to, amount, token, from: payee, ordinal }) => ({
      to,
      amount,
      token,
      from: payee,
      ordinal,
    }));
    expect(tokens).toHaveLength(2);
    expect(tokens).toContainEqual({
      to: one,
      amount: 7n,
      token: usdc,
      from,
      ordinal: expect.any(Number),
    });
    expect(tokens.map(({ ordinal }) => ordinal).toSorted()).toEqual([0, 1]);
  });
});

describe("the reader", () => {
  test("credits nothing from a failed transaction [T34]", async () => {
    const { usdc, here } = world;
    const vault = await newVault();
    const tokens = await sendTokens(usdc, vault, 9n);
    const arrived = await arrivalsOf(
      [sendSol(vault, 5_000_000n), ...tokens, sendSol(vault, 10n ** 17n)],
      { watched: [vault], tokens: [usdc] },
    );
    expect(arrived).toMatchObject({ sol: [], tokens: [] });
    // The transaction is in a block, but failed.
    expect(await here.getReceipt(arrived.txHash)).toMatchObject({ succeeded: false, effects: [] });
    expect(await here.getBalance(usdc, vault)).toBe(0n);
  });

  test("credits nothing from a fake token of either program [T26]", async () => {
    const { usdc, here } = world;
    const vault = await newVault();
    for (const program of ["token", "token-2022"] as const) {
      const fake = await world.createMint({ program, decimals: 6, hasTransferFee: false });
      await world.give(fake, fromBase58(payer.address), 9n);
      const arrived = await arrivalsOf(await sendTokens(fake, vault, 9n), {
        watched: [vault],
        tokens: [usdc],
      });
      expect(arrived.tokens).toEqual([]);
      expect(await here.getBalance(fake, vault)).toBe(9n);
    }
    expect(await here.getBalance(usdc, vault)).toBe(0n);
    expect(await here.readHolding(usdc, vault)).toMatchObject({ amount: 0n });
  });

  test("credits nothing from a confirmed block that is dropped [T41]", async () => {
    const { here, sandbox } = world;
    const vault = await newVault();
    const before = await here.getHead();
    await world.give(NATIVE_SOL, vault, 5_000_000n);
    const slot = await sandbox.tick(5);
    expect(await wallet.balanceOf(toBase58(vault))).toBe(5_000_000n);
    expect(await here.getBlock(slot)).toBeNull();
    expect(await here.getBalance(NATIVE_SOL, vault)).toBe(0n);
    await sandbox.fork({ blocks: 6 });
    await world.finalize();
    let sum = 0n;
    for (let tip = before; ;) {
      const next = await getBlockAfter(here, tip.number);
      if (next === null) break;
      const arrived = await listNativeTransfers(here, next, async () => new Set([vault]));
      sum += arrived.reduce((total, { amount }) => total + amount, 0n);
      tip = next;
    }
    expect(sum).toBe(0n);
    expect(await here.getBalance(NATIVE_SOL, vault)).toBe(0n);
  });

  test("credits neither an unlisted token nor the rent of an account", async () => {
    const vault = await newVault();
    const arrived = await arrivalsOf(await sendTokens(world.usdc, vault, 9n), { watched: [vault] });
    expect(arrived).toMatchObject({ sol: [], tokens: [] });
    const associated = await associatedAccountOf(vault, world.usdc, "token");
    const again = await arrivalsOf([sendSol(associated, 5_000_000n)], {
      watched: [vault, associated],
    });
    expect(again.sol).toEqual([]);
  });
});

test.each([
  ["nothing", { basisPoints: 0, maximum: 1_000n }, 50_000n],
  ["1 %", { basisPoints: 100, maximum: 1_000n }, 49_500n],
  ["its maximum", { basisPoints: 100, maximum: 7n }, 49_993n],
  ["all", { basisPoints: 10_000, maximum: 2n ** 64n - 1n }, 0n],
])(
  "a token of Token-2022 arrives less its transfer fee: %s [T28]",
  async (_, transferFee, amount) => {
    const vault = await newVault();
    const token = await world.createMint(
      { program: "token-2022", decimals: 6, hasTransferFee: true },
      { decimals: 6, transferFee },
    );
    await world.give(token, fromBase58(payer.address), 10n ** 9n);
    const arrived = await arrivalsOf(await sendTokens(token, vault, 50_000n), {
      watched: [vault],
      tokens: [token],
    });
    expect(arrived.tokens.map((one) => [one.to, one.amount, one.token])).toEqual(
      amount === 0n ? [] : [[vault, amount, token]],
    );
    expect(await world.here.readHolding(token, vault)).toMatchObject({ amount });
  },
);

describe("a deposit", () => {
  test("is found when its accounts come from a lookup table [T35]", async () => {
    const { usdc, here } = world;
    const vault = await newVault();
    const account = await associatedAccountOf(vault, usdc, "token");
    const addresses = [toBase58(vault), toBase58(account), toBase58(usdc)];
    const arrived = await arrivalsOf(
      [sendSol(vault, 5_000_000n), ...(await sendTokens(usdc, vault, 7n))],
      { watched: [vault], tokens: [usdc], lookup: await createTable(addresses) },
    );
    expect(arrived.sol).toMatchObject([{ to: vault, amount: 5_000_000n }]);
    expect(arrived.tokens).toMatchObject([{ to: vault, amount: 7n }]);
    expect(await here.getReceipt(arrived.txHash)).toMatchObject({ succeeded: true });
  });

  test("is found when a program sends it without a transfer instruction [T35]", async () => {
    const { usdc } = world;
    const recipient = await generateKeyPairSigner();
    const to = fromBase58(recipient.address);
    // Tokens in a nested associated account, which the associated token program recovers.
    const mint = await world.createMint({ program: "token", decimals: 6, hasTransferFee: false });
    const owner = await associatedAccountOf(to, mint, "token");
    await world.give(mint, to, 1n);
    await wallet.send(payer, await sendTokens(usdc, owner, 7n));
    await wallet.send(payer, [
      await getCreateAssociatedTokenIdempotentInstructionAsync({
        payer,
        owner: recipient.address,
        mint: toBase58(usdc),
      }),
    ]);
    await world.finalize();
    const arrived = await arrivalsOf(
      [
        await getRecoverNestedAssociatedTokenInstructionAsync({
          walletAddress: recipient,
          ownerTokenMintAddress: toBase58(mint),
          nestedTokenMintAddress: toBase58(usdc),
        }),
      ],
      { watched: [to], tokens: [usdc] },
    );
    expect(arrived.tokens).toMatchObject([{ to, amount: 7n }]);
    // The rent of the closed nested account.
    expect(arrived.sol).toMatchObject([{ to, amount: rentOf(165) }]);
  });
});

describe("SOL and lamports in an account of wrapped SOL", () => {
  const NATIVE = 5_000_000n;
  const WRAPPED = 7_000_000n;

  test.each([
    [["native", "lamports", "sync"]],
    [["lamports", "native", "sync"]],
    [["lamports", "sync", "native"]],
    [["sync", "lamports", "sync", "native", "sync"]],
  ] as const)("count once each in the order %j [T36]", async (steps) => {
    const { here } = world;
    const commitment = commitmentOf(++count);
    const vault = await world.issue(commitment);
    const account = await associatedAccountOf(vault, WRAPPED_SOL, "token");
    const open = await getCreateAssociatedTokenIdempotentInstructionAsync({
      payer,
      owner: toBase58(vault),
      mint: toBase58(WRAPPED_SOL),
    });
    const options = { watched: [vault], tokens: [WRAPPED_SOL] };
    expect(await arrivalsOf([open], options)).toMatchObject({ sol: [], tokens: [] });
    let unsynced = 0n;
    for (const step of steps) {
      const arrived = await arrivalsOf([instructionOf(step, vault, account)], options);
      const sol = step === "native" ? [NATIVE] : [];
      const tokens = step === "sync" && unsynced > 0n ? [unsynced] : [];
      expect(arrived.sol.map(({ amount }) => amount)).toEqual(sol);
      expect(arrived.tokens.map(({ amount }) => amount)).toEqual(tokens);
      if (step === "lamports") unsynced = WRAPPED;
      if (step === "sync") unsynced = 0n;
    }
    expect(await here.readHolding(NATIVE_SOL, vault)).toMatchObject({ amount: NATIVE });
    const wrapped = await here.readHolding(WRAPPED_SOL, vault);
    expect(wrapped).toMatchObject({ amount: WRAPPED });
    // Refunding one leaves the other.
    await world.execute(
      here.wallets.buildRefund(commitment, WRAPPED_SOL, { ...wrapped, reason: null }),
    );
    expect(await here.getBalance(WRAPPED_SOL, vault)).toBe(0n);
    expect(await here.getBalance(NATIVE_SOL, vault)).toBe(NATIVE);
    await world.execute(
      here.wallets.buildRefund(commitment, NATIVE_SOL, { amount: NATIVE, reason: null }),
    );
    expect(await here.getBalance(NATIVE_SOL, vault)).toBe(0n);
  });

  function instructionOf(step: "native" | "lamports" | "sync", vault: Address, account: Address) {
    switch (step) {
      case "native":
        return sendSol(vault, NATIVE);
      case "lamports":
        return sendSol(account, WRAPPED);
      case "sync":
        return getSyncNativeInstruction({ account: toBase58(account) });
    }
  }
});

test("an account with a delegate is not counted; a change of owner removes the delegate [T27]", async () => {
  const { usdc, here, sandbox } = world;
  const vault = await newVault();
  const giver = await generateKeyPairSigner();
  await world.give(usdc, fromBase58(giver.address), 40n);
  await world.finalize();
  const account = await associatedAccountOf(fromBase58(giver.address), usdc, "token");
  await arrivalsOf(
    [
      getApproveInstruction({
        source: toBase58(account),
        delegate: giver.address,
        owner: giver,
        amount: 40n,
      }),
      getSetAuthorityInstruction({
        owned: toBase58(account),
        owner: giver,
        authorityType: AuthorityType.AccountOwner,
        newAuthority: toBase58(vault),
      }),
    ],
    { watched: [vault] },
  );
  // The change of owner revokes the delegate.
  expect(await here.readHolding(usdc, vault)).toMatchObject({
    amount: 40n,
    sources: [{ account, amount: 40n }],
  });
  // With a delegate the account is not counted.
  const stored = sandbox.chain.bank.read(toBase58(account));
  if (!stored) throw new Error("no account");
  const delegate = giver.address;
  const token = getTokenDecoder().decode(stored.data);
  const data = getTokenEncoder().encode({ ...token, delegate, delegatedAmount: 40n });
  sandbox.chain.write(toBase58(account), { ...stored, data: Uint8Array.from(data) });
  await world.finalize();
  expect(await here.readHolding(usdc, vault)).toMatchObject({ amount: 0n });
  expect(await here.getBalance(usdc, vault)).toBe(0n);
});

test("an account given to a wallet is a transfer of its balance, but does not count in the holding while others may close it [T27]", async () => {
  const { usdc, here } = world;
  const vault = await newVault();
  const giver = await generateKeyPairSigner();
  await world.give(usdc, fromBase58(giver.address), 40n);
  await world.finalize();
  const account = await associatedAccountOf(fromBase58(giver.address), usdc, "token");
  const owned = toBase58(account);
  const arrived = await arrivalsOf(
    [
      getSetAuthorityInstruction({
        owned,
        owner: giver,
        authorityType: AuthorityType.CloseAccount,
        newAuthority: giver.address,
      }),
      getSetAuthorityInstruction({
        owned,
        owner: giver,
        authorityType: AuthorityType.AccountOwner,
        newAuthority: toBase58(vault),
      }),
    ],
    { watched: [vault], tokens: [usdc] },
  );
  expect(arrived.tokens).toMatchObject([
    { to: vault, from: fromBase58(giver.address), amount: 40n },
  ]);
  expect(await here.readHolding(usdc, vault)).toMatchObject({ amount: 0n });
  expect(await here.getBalance(usdc, vault)).toBe(0n);
});

test("reading a block fails when its slot has another hash", async () => {
  const { here } = world;
  const head = await here.getHead();
  const other = { ...head, hash: head.parentHash };
  await expect(listTransfers(here, other, [])).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  await expect(here.getTime(other)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  expect(await here.getTime("final")).toBe(await here.getTime(head));
});
