/** Locks, deliveries and refunds, read from their accounts and histories. */
import type { Address, Hex32, TxHash } from "../../core/hex.ts";
import { getTokenDecoder } from "@solana-program/token";
import type { FoundDelivery, FoundRefund, Lock } from "../port/index.ts";
import { rpcUnavailable } from "../rpc/errors.ts";
import type { AccountAnswer } from "./account-answers.ts";
import type { TransactionAnswer } from "./answers.ts";
import { fromSignature, isSignature, toBase58, toSignature } from "./base58.ts";
import {
  lockAddressOf,
  markerAddressOf,
  TOKEN_PROGRAMS,
  type TokenProgram,
} from "./derived-accounts.ts";
import { type Actors, listMemos, lockedBy, readEffects } from "./effects.ts";
import type { SearchHistory } from "./history.ts";
import type { ClaimMemo, LockMemo, Memo, ReturnMemo } from "./memos.ts";
import type { SolanaNode } from "./node.ts";

/** The dependencies of every read here. */
export interface LockReadDeps {
  readonly actors: Actors;
  readonly searchHistory: SearchHistory;
}

/** A search by delivery id. */
interface ById extends LockReadDeps {
  readonly deliveryId: Hex32;
  /** Transactions to read first. They are verified like any other. */
  readonly hints: readonly TxHash[];
}

/**
 * Returns a lock as one node reports it; null when it was never opened. Its account shows whether it is open. The
 * history, which anybody can make long, is searched only when the hints do not include the opening and ending.
 */
export async function readLock(
  node: SolanaNode,
  minSlot: bigint,
  asked: ById,
): Promise<Lock | null> {
  const { deliveryId, actors, searchHistory } = asked;
  const programs: readonly TokenProgram[] = ["token", "token-2022"];
  const addresses = programs.map((program) => lockAddressOf(actors.escrow, deliveryId, program));
  const { accounts } = await node.readAccounts(addresses, minSlot);
  const amounts = programs.map((program, index) =>
    heldIn(accounts[index] ?? null, { program, escrow: actors.escrow }),
  );
  const isHit = (transaction: TransactionAnswer) => findMemo(transaction, asked) !== null;

  const hinted = readLife((await readHinted(node, asked)).filter(isHit), asked);
  const open = amounts.find((amount) => amount !== null) ?? null;
  if (hinted.lock && isLife(hinted, open)) return toLock(hinted.lock, hinted.end, open);

  for (const [index, account] of addresses.entries()) {
    const text = toBase58(deliveryId);
    const isEnough = (hits: readonly TransactionAnswer[]) =>
      hits.some((hit) => findMemo(hit, asked)?.kind === "lock");
    const search = { name: `lock ${account}`, account, minSlot, text, isHit, isEnough };
    const life = readLife(await searchHistory(node, search), asked);
    const held = amounts[index] ?? null;
    if (life.lock === null) {
      if (held === null) continue;
      throw rpcUnavailable(node.chainId, "no transaction found for a lock");
    }
    if (!isLife(life, held)) throw rpcUnavailable(node.chainId, "a lock and its history differ");
    return toLock(life.lock, life.end, held);
  }
  return null;
}

/** Reads the hinted transactions that exist and succeeded, newest first. */
async function readHinted(
  node: SolanaNode,
  { hints }: Pick<ById, "hints">,
): Promise<readonly TransactionAnswer[]> {
  // Hints can be transactions of other chains, whose ids have another length.
  const signatures = hints.filter(isSignature).map(toSignature);
  const found = await Promise.all(
    signatures.map((signature) => node.getTransaction(signature, "finalized")),
  );
  return found
    .flatMap((transaction) => (transaction?.succeeded ? [transaction] : []))
    .toSorted((one, other) => Number(other.slot - one.slot));
}

type OfLock = LockMemo | ClaimMemo | ReturnMemo;

/** Returns the memo of a transaction about a lock. */
function findMemo(
  transaction: TransactionAnswer,
  { deliveryId, actors }: Pick<ById, "deliveryId" | "actors">,
): OfLock | null {
  const isOfLock = (memo: Memo): memo is OfLock =>
    (memo.kind === "lock" || memo.kind === "claim" || memo.kind === "return") &&
    memo.deliveryId === deliveryId;
  return listMemos(transaction, actors).find(isOfLock) ?? null;
}

/** A lock as its memo states it. */
type Opened = Omit<Lock, "state" | "held">;

interface Life {
  readonly lock: Opened | null;
  readonly end: "claim" | "return" | null;
}

/** Returns the newest lock of an id and its ending, from transactions ordered newest first. */
function readLife(transactions: readonly TransactionAnswer[], asked: ById): Life {
  let end: Life["end"] = null;
  for (const transaction of transactions) {
    const memo = findMemo(transaction, asked);
    if (memo?.kind === "lock") return { lock: readFacts(memo, transaction, asked), end };
    end ??= memo?.kind ?? null;
  }
  return { lock: null, end };
}

/** Returns whether history and state agree: a change of state is in the history at once. */
function isLife({ end }: Life, held: bigint | null): boolean {
  return (held === null) === (end !== null);
}

function toLock(lock: Opened, end: Life["end"], held: bigint | null): Lock {
  const state = end === "claim" ? "claimed" : end === "return" ? "returned" : "locked";
  return { ...lock, state, ...(held === null ? {} : { held }) };
}

function readFacts(
  memo: LockMemo,
  transaction: TransactionAnswer,
  { actors }: Pick<ById, "actors">,
): Opened {
  const { commitment, token, minOut, seq, lockedAt, delivery } = memo;
  const amount = lockedBy(memo, transaction, actors.escrow);
  return { commitment, token, amount, minOut, seq, lockedAt, delivery };
}

/** Returns the balance of a lock's account; null when it is closed or has another owner. */
function heldIn(
  account: AccountAnswer | null,
  { program, escrow }: { readonly program: TokenProgram; readonly escrow: Address },
): bigint | null {
  if (account?.owner !== TOKEN_PROGRAMS[program]) return null;
  const { owner, amount } = getTokenDecoder().decode(account.data.subarray(0, 165));
  return owner === toBase58(escrow) ? amount : null;
}

/** Returns whether the marker of a delivery id has its byte. Lamports alone prove nothing: anybody can send them. */
export async function isMarked(
  node: SolanaNode,
  minSlot: bigint,
  marker: Address,
): Promise<boolean> {
  const { accounts } = await node.readAccounts([marker], minSlot);
  return (accounts[0]?.data.length ?? 0) > 0;
}

/** Returns a delivery as one node reports it. The marker decides; a missing transaction is an unusable answer. */
export async function readDelivery(
  node: SolanaNode,
  minSlot: bigint,
  asked: ById,
): Promise<FoundDelivery | null> {
  const { deliveryId, actors, searchHistory } = asked;
  const account = markerAddressOf(actors.delivery, deliveryId);
  if (!(await isMarked(node, minSlot, account))) return null;
  const find = (transaction: TransactionAnswer): FoundDelivery | null => {
    for (const effect of readEffects(transaction, actors, 0)) {
      if (effect.kind !== "delivered" || effect.deliveryId !== deliveryId) continue;
      const { kind: _, ...facts } = effect;
      const { signature, slot } = transaction;
      return { ...facts, txHash: fromSignature(signature), blockNumber: slot };
    }
    return null;
  };
  const isHit = (transaction: TransactionAnswer) => find(transaction) !== null;
  const [hinted] = (await readHinted(node, asked)).filter(isHit);
  const [found] = hinted
    ? [hinted]
    : await searchHistory(node, {
        name: `delivery ${account}`,
        account,
        minSlot,
        text: toBase58(deliveryId),
        isHit,
        isEnough: (hits) => hits.length > 0,
      });
  if (found === undefined)
    throw rpcUnavailable(node.chainId, "transaction of a delivery not found");
  return find(found);
}

/** Returns the newest refund of a vault since a slot, as one node reports it. */
export async function readRefund(
  node: SolanaNode,
  minSlot: bigint,
  {
    wallet,
    token,
    fromSlot,
    actors,
    searchHistory,
  }: LockReadDeps & {
    readonly wallet: Address;
    readonly token: Address;
    readonly fromSlot: bigint;
  },
): Promise<FoundRefund | null> {
  const find = (transaction: TransactionAnswer) => {
    for (const effect of readEffects(transaction, actors, 0)) {
      if (effect.kind !== "refunded" || effect.wallet !== wallet || effect.token !== token) {
        continue;
      }
      return { to: effect.to, amount: effect.amount };
    }
    return null;
  };
  const [newest] = await searchHistory(node, {
    name: `refund ${wallet} ${token} ${fromSlot}`,
    account: wallet,
    minSlot,
    text: '"sluice":"refund"',
    fromSlot,
    isHit: (transaction) => find(transaction) !== null,
    isEnough: (hits) => hits.length > 0,
  });
  const refund = newest && find(newest);
  if (!refund) return null;
  const { slot, signature } = newest;
  const place = await node.findPlace(slot, signature);
  if (place === null) throw rpcUnavailable(node.chainId, "a transaction is not in its block");
  const txHash = fromSignature(signature);
  return { ...refund, txHash, blockNumber: slot, logIndex: place.index };
}
