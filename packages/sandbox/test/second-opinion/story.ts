/** A scenario that the unmodified client runs on any node with the same keys, so that its results must be equal. */
import { createHash } from "node:crypto";
import {
  type Address,
  address,
  createKeyPairSignerFromPrivateKeyBytes,
  type Instruction,
  type KeyPairSigner,
  lamports,
  type Signature,
} from "@solana/kit";
import { getCreateAccountInstruction, getTransferSolInstruction } from "@solana-program/system";
import {
  findAssociatedTokenPda,
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstructionAsync,
  getInitializeMint2Instruction,
  getMintSize,
  getMintToInstruction,
  getSyncNativeInstruction,
  getTransferCheckedInstruction,
} from "@solana-program/token";
import {
  extension,
  getHarvestWithheldTokensToMintInstruction,
  getInitializeTransferFeeConfigInstruction,
  getMintSize as getMint2022Size,
} from "@solana-program/token-2022";
import {
  TOKEN_2022_PROGRAM_ADDRESS,
  TOKEN_PROGRAM_ADDRESS,
} from "../../src/solana/svm/programs.ts";
import { connectWallet } from "../../src/solana/test-wallet.ts";

const MEMO_V3 = address("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
const WSOL = address("So11111111111111111111111111111111111111112");
const TIMEOUT_MS = 20_000;

/** Results of a node by step. */
export type Findings = ReadonlyMap<string, unknown>;

/** Runs the scenario on a node and returns its results. */
export async function runScenario(url: string): Promise<Findings> {
  const findings = new Map<string, unknown>();
  const wallet = connectWallet(url);
  const { rpc } = wallet;
  const [payer, user, mint, feeMint] = await Promise.all(
    ["payer", "user", "mint", "fee mint"].map(signerOf),
  );
  if (!payer || !user || !mint || !feeMint) throw new Error("expected four keys");

  const settle = async (signature: Signature): Promise<void> => {
    const deadline = Date.now() + TIMEOUT_MS;
    for (;;) {
      const status = await wallet.statusOf(signature);
      if (status && status.confirmationStatus !== "processed") return;
      if (Date.now() > deadline) {
        throw new Error(`${signature} was not confirmed on ${url} within ${TIMEOUT_MS} ms`);
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const play = async (what: string, instructions: readonly Instruction[]): Promise<void> => {
    const signature = await wallet.send(payer, instructions);
    await settle(signature);
    const found = await rpc
      .getTransaction(signature, {
        commitment: "confirmed",
        encoding: "json",
        maxSupportedTransactionVersion: 1,
      })
      .send();
    findings.set(what, describe(found));
  };

  await settle(
    await rpc
      .requestAirdrop(payer.address, lamports(100_000_000_000n), { commitment: "confirmed" })
      .send(),
  );
  const rent = (bytes: number) => rpc.getMinimumBalanceForRentExemption(BigInt(bytes)).send();
  findings.set("rent", [await rent(0), await rent(82), await rent(165)]);

  const pay = (to: Address, amount: bigint) =>
    getTransferSolInstruction({ source: payer, destination: to, amount: lamports(amount) });
  await play("SOL", [pay(user.address, 2_000_000_000n)]);
  await play("SOL below rent", [pay(feeMint.address, 1_000n)]);
  await play("more SOL than there is", [pay(user.address, 10n ** 15n)]);
  await play("a memo", [
    pay(user.address, 5n),
    { programAddress: MEMO_V3, data: new TextEncoder().encode("order 7") },
  ]);

  const size = getMintSize();
  await play("a mint", [
    getCreateAccountInstruction({
      payer,
      newAccount: mint,
      lamports: await rent(size),
      space: size,
      programAddress: TOKEN_PROGRAM_ADDRESS,
    }),
    getInitializeMint2Instruction({
      mint: mint.address,
      decimals: 6,
      mintAuthority: payer.address,
    }),
  ]);
  await runTokenSteps({ payer, user, mint: mint.address, program: TOKEN_PROGRAM_ADDRESS, play });

  const fee = { epoch: 0n, maximumFee: 1_000_000n, transferFeeBasisPoints: 100 };
  const feeSize = getMint2022Size([
    extension("TransferFeeConfig", {
      transferFeeConfigAuthority: payer.address,
      withdrawWithheldAuthority: payer.address,
      withheldAmount: 0n,
      olderTransferFee: fee,
      newerTransferFee: fee,
    }),
  ]);
  await play("a mint with a fee", [
    getCreateAccountInstruction({
      payer,
      newAccount: feeMint,
      lamports: await rent(feeSize),
      space: feeSize,
      programAddress: TOKEN_2022_PROGRAM_ADDRESS,
    }),
    getInitializeTransferFeeConfigInstruction({
      mint: feeMint.address,
      transferFeeConfigAuthority: payer.address,
      withdrawWithheldAuthority: payer.address,
      transferFeeBasisPoints: 100,
      maximumFee: 1_000_000n,
    }),
    getInitializeMint2Instruction(
      { mint: feeMint.address, decimals: 6, mintAuthority: payer.address },
      { programAddress: TOKEN_2022_PROGRAM_ADDRESS },
    ),
  ]);
  await runTokenSteps({
    payer,
    user,
    mint: feeMint.address,
    program: TOKEN_2022_PROGRAM_ADDRESS,
    play,
  });

  const wrapped = await accountOf(payer.address, WSOL, TOKEN_PROGRAM_ADDRESS);
  await play("wrapping", [
    await openAccount(payer, payer.address, WSOL, TOKEN_PROGRAM_ADDRESS),
    pay(wrapped, 3_000_000n),
    getSyncNativeInstruction({ account: wrapped }),
  ]);
  await play("unwrapping", [
    getCloseAccountInstruction({ account: wrapped, destination: user.address, owner: payer }),
  ]);
  await play("version 0", [pay(user.address, 1n)]);

  for (const [name, program] of [
    ["token", TOKEN_PROGRAM_ADDRESS],
    ["token-2022", TOKEN_2022_PROGRAM_ADDRESS],
  ] as const) {
    const { value } = await rpc
      .getTokenAccountsByOwner(
        user.address,
        { programId: program },
        { commitment: "confirmed", encoding: "base64" },
      )
      .send();
    findings.set(`accounts of ${name}`, value);
  }
  for (const one of [mint.address, feeMint.address, user.address]) {
    const { value } = await rpc
      .getAccountInfo(one, { commitment: "confirmed", encoding: "base64" })
      .send();
    findings.set(`account ${one}`, value);
  }
  return findings;
}

/** Runs a deposit, a sweep that closes the account, and a second deposit. */
async function runTokenSteps({
  payer,
  user,
  mint,
  program,
  play,
}: {
  readonly payer: KeyPairSigner;
  readonly user: KeyPairSigner;
  readonly mint: Address;
  readonly program: Address;
  readonly play: (what: string, instructions: readonly Instruction[]) => Promise<void>;
}): Promise<void> {
  const is2022 = program === TOKEN_2022_PROGRAM_ADDRESS;
  const name = is2022 ? "token-2022" : "token";
  const programAddress = program;
  const own = await accountOf(payer.address, mint, program);
  const theirs = await accountOf(user.address, mint, program);
  const move = (from: KeyPairSigner, amount: bigint) =>
    getTransferCheckedInstruction(
      {
        source: from === payer ? own : theirs,
        destination: from === payer ? theirs : own,
        mint,
        authority: from,
        amount,
        decimals: 6,
      },
      { programAddress },
    );
  await play(`${name}: mint`, [
    await openAccount(payer, payer.address, mint, program),
    getMintToInstruction(
      { mint, token: own, mintAuthority: payer, amount: 1_000_000n },
      { programAddress },
    ),
  ]);
  await play(`${name}: deposit`, [
    await openAccount(payer, user.address, mint, program),
    move(payer, 100_000n),
  ]);
  await play(`${name}: more than there is`, [move(user, 1_000_000n)]);
  await play(`${name}: sweep and close`, [
    move(user, is2022 ? 99_000n : 100_000n),
    ...(is2022 ? [getHarvestWithheldTokensToMintInstruction({ mint, sources: [theirs] })] : []),
    getCloseAccountInstruction(
      { account: theirs, destination: payer.address, owner: user },
      { programAddress },
    ),
  ]);
  await play(`${name}: deposit again`, [
    await openAccount(payer, user.address, mint, program),
    move(payer, 500n),
  ]);
}

function signerOf(name: string): Promise<KeyPairSigner> {
  return createKeyPairSignerFromPrivateKeyBytes(createHash("sha256").update(name).digest());
}

async function accountOf(owner: Address, mint: Address, tokenProgram: Address): Promise<Address> {
  return (await findAssociatedTokenPda({ owner, mint, tokenProgram }))[0];
}

function openAccount(payer: KeyPairSigner, owner: Address, mint: Address, tokenProgram: Address) {
  return getCreateAssociatedTokenIdempotentInstructionAsync({ payer, owner, mint, tokenProgram });
}

interface Balance {
  readonly accountIndex: number;
}

interface Found {
  readonly transaction: { readonly message: { readonly accountKeys: unknown } };
  readonly meta: {
    readonly err: unknown;
    readonly fee: unknown;
    readonly preBalances: readonly bigint[];
    readonly postBalances: readonly bigint[];
    readonly preTokenBalances?: readonly Balance[] | undefined;
    readonly postTokenBalances?: readonly Balance[] | undefined;
    readonly innerInstructions?: unknown;
    readonly computeUnitsConsumed?: unknown;
    readonly logMessages: unknown;
  } | null;
}

/** Returns the parts of a transaction that must be equal on every node. */
function describe(found: Found | null): unknown {
  const meta = found?.meta;
  if (!meta) return "not found";
  return {
    keys: found.transaction.message.accountKeys,
    err: meta.err,
    fee: meta.fee,
    preBalances: meta.preBalances,
    postBalances: meta.postBalances,
    preTokenBalances: openOnly(meta.preTokenBalances, meta.preBalances),
    postTokenBalances: openOnly(meta.postTokenBalances, meta.postBalances),
    innerInstructions: meta.innerInstructions,
    computeUnits: meta.computeUnitsConsumed,
    logs: meta.logMessages,
  };
}

/** Removes balances of closed accounts (without lamports), which surfpool 1.5.0 still lists. */
function openOnly(balances: readonly Balance[] | undefined, lamportsOf: readonly bigint[]) {
  return (balances ?? [])
    .filter(({ accountIndex }) => (lamportsOf[accountIndex] ?? 0n) > 0n)
    .toSorted((a, b) => a.accountIndex - b.accountIndex);
}
