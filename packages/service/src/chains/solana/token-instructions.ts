/** Instructions that move tokens and native coin, and open the accounts that receive them. */
import { getAllocateWithSeedInstruction, getTransferSolInstruction } from "@solana-program/system";
import {
  getCreateAssociatedTokenIdempotentInstructionAsync,
  getTransferCheckedInstruction,
} from "@solana-program/token";
import { createNoopSigner, type Instruction, lamports, type TransactionSigner } from "@solana/kit";
import { assert } from "../../core/assert.ts";
import { type Address, type Hex32, NATIVE_SOL } from "../../core/hex.ts";
import type { TokenSource } from "../port/index.ts";
import { toBase58 } from "./base58.ts";
import { associatedAccountOf, seedOf, TOKEN_PROGRAMS } from "./derived-accounts.ts";
import type { RefundOrder, TransferOrder } from "./orders.ts";
import { type Mint, type MintFacts, type OrderFacts, readMint } from "./order-facts.ts";

/** Pays from an owner's SOL, or from its token accounts. */
export async function payFrom(
  owner: Address,
  payments: readonly { readonly to: Address; readonly amount: bigint }[],
  {
    token,
    facts,
    order,
  }: {
    readonly token: Address;
    readonly facts: OrderFacts;
    /** The order that may name source accounts. */
    readonly order?: TransferOrder | RefundOrder;
  },
): Promise<readonly Instruction[]> {
  if (token === NATIVE_SOL) return payments.map(({ to, amount }) => sendSol(owner, to, amount));
  const mint = readMint(token, facts);
  const total = payments.reduce((sum, { amount }) => sum + amount, 0n);
  let sources = await takeFrom(owner, order ?? { amount: total }, mint);
  const instructions: Instruction[] = [];
  for (const { to, amount } of payments) {
    const target = await openAssociated(to, mint, facts);
    instructions.push(
      target.open,
      ...sendFrom(sources, { to: target.account, amount, mint, owner }),
    );
    sources = leaveOf(sources, amount);
  }
  return instructions;
}

/** Returns the owner's token accounts that add up to an amount. */
export async function takeFrom(
  owner: Address,
  order: { readonly amount: bigint; readonly sources?: readonly TokenSource[] },
  mint: Mint,
): Promise<readonly TokenSource[]> {
  const { amount, sources } = order;
  if (!sources) {
    return [{ account: await associatedAccountOf(owner, mint.address, mint.program), amount }];
  }
  const total = sources.reduce((sum, source) => sum + source.amount, 0n);
  assert(total === amount, "the sources of an order make up its amount");
  return sources;
}

/** Transfers an amount from the first sources that have it. */
export function sendFrom(
  sources: readonly TokenSource[],
  transfer: {
    readonly to: Address;
    readonly amount: bigint;
    readonly mint: Mint;
    readonly owner: Address;
  },
): readonly Instruction[] {
  const { to, mint, owner } = transfer;
  const instructions: Instruction[] = [];
  let missing = transfer.amount;
  for (const source of sources) {
    const amount = source.amount < missing ? source.amount : missing;
    if (amount === 0n) continue;
    missing -= amount;
    instructions.push(
      getTransferCheckedInstruction(
        {
          source: toBase58(source.account),
          mint: toBase58(mint.address),
          destination: toBase58(to),
          authority: signerOf(owner),
          amount,
          decimals: mint.decimals,
        },
        inProgram(mint),
      ),
    );
  }
  return instructions;
}

/** Returns the sources that remain after an amount is taken from the first ones. */
function leaveOf(sources: readonly TokenSource[], amount: bigint): readonly TokenSource[] {
  let taken = amount;
  return sources.map((source) => {
    const part = source.amount < taken ? source.amount : taken;
    taken -= part;
    return { account: source.account, amount: source.amount - part };
  });
}

/** Returns an owner's associated account, with the instruction that opens it if it is missing. */
export async function openAssociated(owner: Address, mint: Mint, { feePayer }: OrderFacts) {
  const account = await associatedAccountOf(owner, mint.address, mint.program);
  const open = await getCreateAssociatedTokenIdempotentInstructionAsync({
    payer: signerOf(feePayer),
    ata: toBase58(account),
    owner: toBase58(owner),
    mint: toBase58(mint.address),
    tokenProgram: TOKEN_PROGRAMS[mint.program],
  });
  return { account, open };
}

/**
 * Opens the account derived from a base and an id; fails when it is open. Unlike `CreateAccountWithSeed` it succeeds
 * although a third party sent lamports to the address before.
 */
export function openWithSeed(
  account: Address,
  {
    base,
    deliveryId,
    bytes,
    owner,
    facts,
  }: {
    readonly base: Address;
    readonly deliveryId: Hex32;
    readonly bytes: number;
    readonly owner: Parameters<typeof getAllocateWithSeedInstruction>[0]["programAddress"];
    readonly facts: OrderFacts;
  },
): readonly Instruction[] {
  return [
    sendSol(facts.feePayer, account, facts.rentOf(bytes)),
    getAllocateWithSeedInstruction({
      newAccount: toBase58(account),
      baseAccount: signerOf(base),
      base: toBase58(base),
      seed: seedOf(deliveryId),
      space: BigInt(bytes),
      programAddress: owner,
    }),
  ];
}

/** Builds a payment of native coin. */
export function sendSol(from: Address, to: Address, amount: bigint): Instruction {
  return getTransferSolInstruction({
    source: signerOf(from),
    destination: toBase58(to),
    amount: lamports(amount),
  });
}

/** Marks an account as a required signer, without a key. */
export function signerOf(account: Address): TransactionSigner {
  return createNoopSigner(toBase58(account));
}

/** Returns the token program of a mint as an option of its instructions. */
export function inProgram({ program }: MintFacts) {
  return { programAddress: TOKEN_PROGRAMS[program] };
}
