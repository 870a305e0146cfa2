/**
 * The effects of orders, read from a transaction's memos. A memo counts only if the accounts that alone may do this
 * signed it and the balances changed as it says.
 */
import { type Address, NATIVE_SOL } from "../../core/hex.ts";
import type { Effect } from "../port/index.ts";
import type { MemoAnswer, Changes } from "./answers.ts";
import { toBase58 } from "./base58.ts";
import { mintOf } from "./derived-accounts.ts";
import { type Memo, parseMemo, type ReturnMemo } from "./memos.ts";

/** Accounts whose signed memos count. */
export interface Actors {
  /** Takes the factory's place as the route of value that leaves a vault without a lock. */
  readonly binding: Address;
  readonly escrow: Address;
  readonly delivery: Address;
}

/** The facts of a successful transaction. */
interface Done extends Changes {
  readonly memos: readonly MemoAnswer[];
}

/** Lists the memos of a transaction that its signers and balance changes confirm. */
export function listMemos(done: Done, actors: Actors): readonly Memo[] {
  const memos = done.memos.flatMap(({ text, signers }) => {
    const memo = parseMemo(text, signers);
    return memo && isOfActor(memo, signers, actors) ? [memo] : [];
  });
  return memos.filter((memo) => isTrue(memo, memos, { done, actors }));
}

/** Returns the effects of a successful transaction, in the order of its memos. */
export function readEffects(done: Done, actors: Actors, logIndex: number): Effect[] {
  return listMemos(done, actors).flatMap((memo) => toEffects(memo, done, { actors, logIndex }));
}

function toEffects(
  memo: Memo,
  done: Done,
  { actors, logIndex }: { readonly actors: Actors; readonly logIndex: number },
): Effect[] {
  const { escrow, binding } = actors;
  switch (memo.kind) {
    case "lock": {
      const { vault: wallet, token, amount, asOf: upTo } = memo;
      const { deliveryId, commitment, minOut, seq, lockedAt, delivery } = memo;
      return [
        { kind: "settled", wallet, token, route: escrow, amount, logIndex, upTo },
        {
          kind: "locked",
          escrow,
          deliveryId,
          wallet,
          commitment,
          token,
          amount: lockedBy(memo, done, escrow),
          minOut,
          seq,
          lockedAt,
          delivery,
        },
      ];
    }
    case "claim":
      return [{ kind: "claimed", deliveryId: memo.deliveryId, amount: memo.amount }];
    case "return":
      return [];
    case "deliver": {
      const { deliveryId, commitment, to, token } = memo;
      return [
        { kind: "delivered", deliveryId, commitment, to, token, amount: gainOf(done, to, token) },
      ];
    }
    case "transfer": {
      const { vault: wallet, to, token, amount, fee, asOf: upTo } = memo;
      return [
        { kind: "settled", wallet, token, route: binding, amount, logIndex, upTo },
        { kind: "transferred", wallet, token, to, amount: gainOf(done, to, token), fee },
      ];
    }
    case "refund": {
      const { vault: wallet, to, token, amount, reason } = memo;
      return [{ kind: "refunded", wallet, token, to, amount, reason }];
    }
  }
}

/** Returns a lock's amount: tokens that arrived, or SOL that was sent, since its account may have held lamports before. */
export function lockedBy(
  { token, amount }: { readonly token: Address; readonly amount: bigint },
  changes: Changes,
  escrow: Address,
): bigint {
  return token === NATIVE_SOL ? amount : gainOf(changes, escrow, token);
}

/** Returns what a vault received by a return, after the mint's transfer fee. */
export function returnedBy({ vault, token, amount }: ReturnMemo, changes: Changes): bigint {
  const gain = gainOf(changes, vault, token);
  // Tokens that a third party added to the lock count as a deposit.
  return gain < amount ? gain : amount;
}

function isOfActor(memo: Memo, [first]: readonly Address[], { escrow, delivery }: Actors): boolean {
  switch (memo.kind) {
    case "lock":
    case "claim":
    case "return":
      return first === escrow;
    case "deliver":
      return first === delivery;
    case "transfer":
    case "refund":
      // The signer is the vault that the memo names.
      return true;
  }
}

/** Returns whether the balances changed as a memo says. */
function isTrue(
  memo: Memo,
  all: readonly Memo[],
  { done, actors }: { readonly done: Done; readonly actors: Actors },
): boolean {
  const { escrow } = actors;
  const { token, amount } = memo;
  switch (memo.kind) {
    case "lock":
      return (
        gainOf(done, memo.vault, token) === -amount &&
        // Nothing else goes in or out of locks with it, so that what the escrow has more is the lock.
        all.every((other) => other === memo || !isOfLocks(other)) &&
        gainOf(done, escrow, mintOf(token)) > 0n
      );
    case "claim":
      return isTaken(memo, all, { done, actors });
    case "return":
      return isTaken(memo, all, { done, actors }) && gainOf(done, memo.vault, token) > 0n;
    case "deliver": {
      const gain = gainOf(done, memo.to, token);
      return gain > 0n && gain <= amount;
    }
    case "transfer":
    case "refund":
      return gainOf(done, memo.vault, token) === -amount && gainOf(done, memo.to, token) > 0n;
  }
}

function isOfLocks({ kind }: Memo): boolean {
  return kind === "lock" || kind === "claim" || kind === "return";
}

/** Returns whether the locks lost as much of a mint as all of its memos say. */
function isTaken(
  { token }: Memo,
  all: readonly Memo[],
  { done, actors }: { readonly done: Done; readonly actors: Actors },
): boolean {
  const mint = mintOf(token);
  const told = all.filter((memo) => isOfLocks(memo) && mintOf(memo.token) === mint);
  const taken = told.reduce((sum, memo) => sum + memo.amount, 0n);
  return gainOf(done, actors.escrow, mint) <= -taken;
}

/** Returns the change of an owner's balance of a token; negative for a loss. */
export function gainOf(changes: Changes, owner: Address, token: Address): bigint {
  const account = toBase58(owner);
  if (token === NATIVE_SOL) {
    return changes.sol.find((one) => one.account === account)?.change ?? 0n;
  }
  const mint = toBase58(token);
  return changes.tokens.find((one) => one.owner === account && one.mint === mint)?.change ?? 0n;
}
