import {
  type Address,
  address,
  generateKeyPairSigner,
  type Instruction,
  type KeyPairSigner,
  lamports,
  type Signature,
} from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import {
  findAssociatedTokenPda,
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstructionAsync,
  getSyncNativeInstruction,
  getTransferCheckedInstruction,
} from "@solana-program/token";
import { getHarvestWithheldTokensToMintInstruction } from "@solana-program/token-2022";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createSolanaChain, SOLANA_TOKENS, type SolanaChain } from "./index.ts";
import { TOKEN_2022_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from "./svm/programs.ts";
import { connectWallet, type TestWallet } from "./test-wallet.ts";

const MEMO_V3 = address("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
const USDC = SOLANA_TOKENS.USDC.mint;

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

const accountOf = async (owner: Address, mint: Address, tokenProgram = TOKEN_PROGRAM_ADDRESS) =>
  (await findAssociatedTokenPda({ owner, mint, tokenProgram }))[0];

const openAccount = (owner: Address, mint: Address, tokenProgram = TOKEN_PROGRAM_ADDRESS) =>
  getCreateAssociatedTokenIdempotentInstructionAsync({ payer, owner, mint, tokenProgram });

async function move(
  from: KeyPairSigner,
  to: Address,
  {
    mint,
    amount,
    program = TOKEN_PROGRAM_ADDRESS,
  }: { mint: Address; amount: bigint; program?: Address },
): Promise<Instruction> {
  const source = await accountOf(from.address, mint, program);
  const destination = await accountOf(to, mint, program);
  return getTransferCheckedInstruction(
    { source, mint, destination, authority: from, amount, decimals: 6 },
    { programAddress: program },
  );
}

async function land(instructions: readonly Instruction[]): Promise<Signature> {
  const signature = await wallet.send(payer, instructions);
  await chain.tick();
  return signature;
}

async function inspect(signature: Signature) {
  await chain.tick(32);
  const found = await wallet.rpc
    .getTransaction(signature, { encoding: "json", maxSupportedTransactionVersion: 1 })
    .send();
  if (!found?.meta) throw new Error("the transaction was not found");
  return { ...found, meta: found.meta };
}

/** Returns the token balance change of an owner in a transaction, as a scanner computes it. */
async function balanceChange(signature: Signature, owner: Address): Promise<bigint> {
  const { meta } = await inspect(signature);
  const sum = (balances: NonNullable<typeof meta.postTokenBalances>) =>
    balances
      .filter((balance) => balance.owner === owner)
      .reduce((total, balance) => total + BigInt(balance.uiTokenAmount.amount), 0n);
  return sum(meta.postTokenBalances ?? []) - sum(meta.preTokenBalances ?? []);
}

describe("SOL", () => {
  test("is transferred, and the block has every balance before and after", async () => {
    const amount = lamports(1_500_000_000n);
    const signature = await wallet.send(payer, [
      getTransferSolInstruction({ source: payer, destination: other.address, amount }),
    ]);
    const slot = await chain.tick();
    await chain.tick(32);
    const block = await wallet.rpc
      .getBlock(slot, {
        commitment: "finalized",
        transactionDetails: "accounts",
        maxSupportedTransactionVersion: 1,
        rewards: false,
      })
      .send();
    expect(block?.transactions).toHaveLength(1);
    expect(block?.transactions[0]).toMatchObject({
      transaction: {
        signatures: [signature],
        accountKeys: [
          { pubkey: payer.address, signer: true, writable: true },
          { pubkey: other.address, signer: false, writable: true },
          { pubkey: "11111111111111111111111111111111", signer: false, writable: false },
        ],
      },
      meta: {
        err: null,
        fee: 5_000n,
        preBalances: [10_000_000_000n, 0n, 1n],
        postBalances: [8_499_995_000n, 1_500_000_000n, 1n],
      },
    });
  });

  test("transfers that leave less than the rent exemption are rejected, at any rent", async () => {
    const transferSol = (amount: bigint) =>
      getTransferSolInstruction({ source: payer, destination: other.address, amount });
    await chain.setRent(696n);
    expect(await wallet.rpc.getMinimumBalanceForRentExemption(0n).send()).toBe(89_088n);
    expect(await wallet.rpc.getMinimumBalanceForRentExemption(165n).send()).toBe(203_928n);
    const less = await land([transferSol(89_087n)]);
    const enough = await land([transferSol(89_088n)]);
    expect((await wallet.statusOf(less))?.err).toEqual({
      InsufficientFundsForRent: { account_index: 1n },
    });
    expect((await wallet.statusOf(enough))?.err).toBeNull();
  });

  test("is wrapped and unwrapped", async () => {
    const mint = SOLANA_TOKENS.WSOL.mint;
    const account = await accountOf(payer.address, mint);
    await land([
      await openAccount(payer.address, mint),
      getTransferSolInstruction({ source: payer, destination: account, amount: 3_000_000n }),
      getSyncNativeInstruction({ account }),
    ]);
    const held = await wallet.rpc
      .getTokenAccountBalance(account, { commitment: "processed" })
      .send();
    expect(held.value).toMatchObject({ amount: "3000000", decimals: 9, uiAmountString: "0.003" });
    await land([getCloseAccountInstruction({ account, destination: other.address, owner: payer })]);
    expect(await wallet.balanceOf(other.address)).toBe(3_000_000n + 2_039_280n);
  });

  test("is wrapped by mintTo of WSOL", async () => {
    const mint = SOLANA_TOKENS.WSOL.mint;
    const transferSol = () => chain.mintTo({ mint, owner: other.address, amount: 7n });
    await transferSol();
    await transferSol();
    const account = await accountOf(other.address, mint);
    const held = await wallet.rpc
      .getTokenAccountBalance(account, { commitment: "processed" })
      .send();
    expect(held.value.amount).toBe("14");
    expect(await wallet.balanceOf(account)).toBe(14n + 2_039_280n);
  });
});

describe("tokens", () => {
  test("are transferred to an account created in the same transaction", async () => {
    await chain.mintTo({ mint: USDC, owner: payer.address, amount: 1_000_000n });
    const signature = await land([
      await openAccount(other.address, USDC),
      await move(payer, other.address, { mint: USDC, amount: 250_000n }),
    ]);
    const { meta } = await inspect(signature);
    expect(
      meta.postTokenBalances?.map(({ owner, uiTokenAmount }) => [owner, uiTokenAmount.amount]),
    ).toEqual(
      expect.arrayContaining([
        [other.address, "250000"],
        [payer.address, "750000"],
      ]),
    );
    expect(meta.preTokenBalances).toHaveLength(1);
    // The calls of the associated token program are listed as inner instructions.
    expect(meta.innerInstructions?.[0]).toMatchObject({ index: 0 });
    expect(meta.innerInstructions?.[0]?.instructions.length).toBeGreaterThan(1);
    expect(await balanceChange(signature, other.address)).toBe(250_000n);
  });

  test("have correct balances when an account is closed and reopened", async () => {
    await chain.mintTo({ mint: USDC, owner: payer.address, amount: 1_000_000n });
    const deposit = async (amount: bigint) =>
      land([
        await openAccount(other.address, USDC),
        await move(payer, other.address, { mint: USDC, amount }),
      ]);
    const first = await deposit(77n);
    const swept = await land([
      await move(other, payer.address, { mint: USDC, amount: 77n }),
      getCloseAccountInstruction({
        account: await accountOf(other.address, USDC),
        destination: payer.address,
        owner: other,
      }),
    ]);
    const account = await accountOf(other.address, USDC);
    const closed = await wallet.rpc
      .getAccountInfo(account, { encoding: "base64", commitment: "processed" })
      .send();
    expect(closed.value).toBeNull();
    const again = await deposit(5n);
    expect([
      await balanceChange(first, other.address),
      await balanceChange(swept, other.address),
      await balanceChange(again, other.address),
    ]).toEqual([77n, -77n, 5n]);
  });

  test("of Token-2022 pay a transfer fee, which must be harvested before the account is closed", async () => {
    const program = TOKEN_2022_PROGRAM_ADDRESS;
    const mint = await chain.createMint({
      decimals: 6,
      transferFee: { basisPoints: 100, maximum: 1_000_000n },
    });
    await chain.mintTo({ mint, owner: payer.address, amount: 1_000_000n });
    const signature = await land([
      await openAccount(other.address, mint, program),
      await move(payer, other.address, { mint, amount: 100_000n, program }),
    ]);
    expect(await balanceChange(signature, other.address)).toBe(99_000n);

    const account = await accountOf(other.address, mint, program);
    const sweep = await move(other, payer.address, { mint, amount: 99_000n, program });
    const close = getCloseAccountInstruction(
      { account, destination: payer.address, owner: other },
      { programAddress: program },
    );
    const harvest = getHarvestWithheldTokensToMintInstruction({ mint, sources: [account] });
    const rejected = await land([sweep, close]);
    expect((await wallet.statusOf(rejected))?.err).toEqual({
      InstructionError: [1n, { Custom: 35n }],
    });
    const done = await land([sweep, harvest, close]);
    expect((await wallet.statusOf(done))?.err).toBeNull();
  });

  test.each([
    ["permanentDelegate", { permanentDelegate: USDC }],
    ["pausable", { pausable: true }],
    ["nonTransferable", { nonTransferable: true }],
    ["transferHook", { transferHook: USDC }],
  ] as const)("of a mint with %s are minted by the real program", async (_name, extension) => {
    const mint = await chain.createMint({ decimals: 6, ...extension });
    await chain.mintTo({ mint, owner: payer.address, amount: 7n });
    const account = await accountOf(payer.address, mint, TOKEN_2022_PROGRAM_ADDRESS);
    const held = await wallet.rpc
      .getTokenAccountBalance(account, { commitment: "processed" })
      .send();
    expect(held.value.amount).toBe("7");
  });

  test("of a mint with frozen default state cannot be minted to a new account", async () => {
    const mint = await chain.createMint({ decimals: 6, frozenByDefault: true });
    await expect(chain.mintTo({ mint, owner: payer.address, amount: 7n })).rejects.toThrow(
      `{"InstructionError":[2,{"Custom":17}]}`,
    );
  });

  test("are found by owner, by mint and by program", async () => {
    const fee = await chain.createMint({ decimals: 6, program: "token-2022" });
    await chain.mintTo({ mint: USDC, owner: payer.address, amount: 5n });
    await chain.mintTo({ mint: fee, owner: payer.address, amount: 6n });
    const find = async (filter: { mint: Address } | { programId: Address }) => {
      const { value } = await wallet.rpc
        .getTokenAccountsByOwner(payer.address, filter, {
          encoding: "jsonParsed",
          commitment: "processed",
        })
        .send();
      return value.map(({ account }) => account.data.parsed.info.tokenAmount.amount);
    };
    expect(await find({ mint: USDC })).toEqual(["5"]);
    expect(await find({ programId: TOKEN_PROGRAM_ADDRESS })).toEqual(["5"]);
    expect(await find({ programId: TOKEN_2022_PROGRAM_ADDRESS })).toEqual(["6"]);
    const supply = await wallet.rpc.getTokenSupply(USDC, { commitment: "processed" }).send();
    expect(supply.value.amount).toBe("5");
  });
});

describe("transaction", () => {
  test("that fails is included, pays its fee and transfers nothing", async () => {
    const signature = await land([
      getTransferSolInstruction({
        source: payer,
        destination: other.address,
        amount: 10_000_000_000_000n,
      }),
    ]);
    const { meta } = await inspect(signature);
    expect(meta.err).toEqual({ InstructionError: [0n, { Custom: 1n }] });
    expect(meta.fee).toBe(5_000n);
    expect(meta.postBalances).toEqual([9_999_995_000n, 0n, 1n]);
  });

  test("has its memo in getSignaturesForAddress", async () => {
    const data = new TextEncoder().encode("order 7");
    const signature = await land([
      getTransferSolInstruction({
        source: payer,
        destination: other.address,
        amount: 1_000_000n,
      }),
      { programAddress: MEMO_V3, data },
    ]);
    await chain.tick(32);
    const list = await wallet.rpc.getSignaturesForAddress(other.address).send();
    expect(list).toMatchObject([{ signature, memo: "[7] order 7", err: null }]);
  });
});
