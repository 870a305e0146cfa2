/** Locks and deliveries, read from their accounts and from what happened to these. */
import type { Address, Hex32 } from "../../core/hex.ts";
import { OperatingError } from "../../core/errors.ts";
import { getTokenDecoder } from "@solana-program/token";
import type { FoundDelivery, FoundRefund, Lock } from "../port.ts";
import type { AccountAnswer, HistoryEntry } from "./answers.ts";
import { fromSignature, toBase58 } from "./base58.ts";
import {
  lockAddressOf,
  markerAddressOf,
  TOKEN_PROGRAMS,
  type TokenProgram,
} from "./derived-accounts.ts";
import { type Actors, listMemos, lockedBy, readEffects } from "./effects.ts";
import { type Found, searchHistory } from "./history.ts";
import type { LockMemo, Memo } from "./memos.ts";
import type { SolanaNode } from "./node.ts";

/** One node's word about a lock; null where it was never opened. */
export async function readLock(
  node: SolanaNode,
  minSlot: bigint,
  { deliveryId, actors }: { readonly deliveryId: Hex32; readonly actors: Actors },
): Promise<Lock | null> {
  const programs: readonly TokenProgram[] = ["token", "token-2022"];
  const addresses = programs.map((program) => lockAddressOf(actors.escrow, deliveryId, program));
  const { accounts } = await node.readAccounts(addresses, minSlot);
  for (const [index, account] of addresses.entries()) {
    const { lock, end } = await readHistory(node, minSlot, { account, deliveryId, actors });
    const held = heldIn(accounts[index] ?? null, programs[index] ?? "token");
    if (lock === null) {
      if (held === null) continue;
      throw unusable(node, "a lock without its transaction");
    }
    // Closing and opening are in the history as soon as they are in the state.
    if ((held === null) !== (end !== null)) throw unusable(node, "a lock and its history differ");
    const state = end === "claim" ? "claimed" : end === "return" ? "returned" : "locked";
    return { ...lock, state, ...(held === null ? {} : { held }) };
  }
  return null;
}

/** The newest lock of an id, and what ended it. */
async function readHistory(
  node: SolanaNode,
  minSlot: bigint,
  {
    account,
    deliveryId,
    actors,
  }: { readonly account: Address; readonly deliveryId: Hex32; readonly actors: Actors },
): Promise<{ readonly lock: Omit<Lock, "state"> | null; readonly end: "claim" | "return" | null }> {
  let lock: Omit<Lock, "state"> | null = null;
  let end: "claim" | "return" | null = null;
  const ofLock = (memo: Memo) => "deliveryId" in memo && memo.deliveryId === deliveryId;
  const visit = (found: Found) => {
    const memo = listMemos(found.transaction, actors).find(ofLock);
    if (memo?.kind === "claim" || memo?.kind === "return") end ??= memo.kind;
    if (memo?.kind !== "lock") return "go on";
    lock = toLock(memo, found, { node, actors });
    return "enough";
  };
  await searchHistory(node, { account, minSlot, text: toBase58(deliveryId), visit });
  return { lock, end };
}

function toLock(
  memo: LockMemo,
  { entry, transaction }: Found,
  { node, actors }: { readonly node: SolanaNode; readonly actors: Actors },
): Omit<Lock, "state"> {
  if (entry.time === null) throw unusable(node, "no time of a lock");
  const { vault: wallet, commitment, token, minOut, seq, destChain, delivery } = memo;
  const amount = lockedBy(memo, transaction, actors.escrow);
  const lockedAt = entry.time;
  return { wallet, commitment, token, amount, minOut, seq, destChain, delivery, lockedAt };
}

/** What a lock's account holds; null where it is not open. */
function heldIn(account: AccountAnswer | null, program: TokenProgram): bigint | null {
  if (account?.owner !== TOKEN_PROGRAMS[program]) return null;
  return getTokenDecoder().decode(account.data.subarray(0, 165)).amount;
}

/** Whether a node says that an id was delivered: its marker has its byte. Lamports alone anybody can send there. */
export async function isMarked(
  node: SolanaNode,
  minSlot: bigint,
  marker: Address,
): Promise<boolean> {
  const { accounts } = await node.readAccounts([marker], minSlot);
  return (accounts[0]?.data.length ?? 0) > 0;
}

/** One node's word about a delivery. The marker decides; not finding its transaction is no answer. */
export async function readDelivery(
  node: SolanaNode,
  minSlot: bigint,
  { deliveryId, actors }: { readonly deliveryId: Hex32; readonly actors: Actors },
): Promise<FoundDelivery | null> {
  const account = markerAddressOf(actors.delivery, deliveryId);
  if (!(await isMarked(node, minSlot, account))) return null;
  let found: FoundDelivery | null = null;
  const visit = ({ entry, transaction }: Found) => {
    for (const effect of readEffects(transaction, actors, 0)) {
      if (effect.kind !== "delivered" || effect.deliveryId !== deliveryId) continue;
      const { kind: _, ...facts } = effect;
      found = { ...facts, txHash: fromSignature(entry.signature), blockNumber: entry.slot };
    }
    return found ? "enough" : "go on";
  };
  await searchHistory(node, { account, minSlot, text: toBase58(deliveryId), visit });
  if (found === null) throw unusable(node, "transaction of a delivery not found");
  return found;
}

/** One node's word about the newest refund of a vault from a slot on. */
export async function readRefund(
  node: SolanaNode,
  minSlot: bigint,
  {
    wallet,
    token,
    fromSlot,
    actors,
  }: {
    readonly wallet: Address;
    readonly token: Address;
    readonly fromSlot: bigint;
    readonly actors: Actors;
  },
): Promise<FoundRefund | null> {
  const refunds: { readonly entry: HistoryEntry; readonly to: Address; readonly amount: bigint }[] =
    [];
  const visit = ({ entry, transaction }: Found) => {
    for (const effect of readEffects(transaction, actors, 0)) {
      if (effect.kind !== "refunded" || effect.wallet !== wallet || effect.token !== token) {
        continue;
      }
      refunds.push({ entry, to: effect.to, amount: effect.amount });
    }
    return refunds.length > 0 ? "enough" : "go on";
  };
  await searchHistory(node, {
    account: wallet,
    minSlot,
    text: '"sluice":"refund"',
    fromSlot,
    visit,
  });
  const [newest] = refunds;
  if (!newest) return null;
  const { entry, to, amount } = newest;
  const place = await node.findPlace(entry.slot, entry.signature);
  if (place === null) throw unusable(node, "a transaction is not in its block");
  const txHash = fromSignature(entry.signature);
  return { to, amount, txHash, blockNumber: entry.slot, logIndex: place.index };
}

function unusable({ chainId }: SolanaNode, reason: string): OperatingError {
  return new OperatingError("RPC_UNAVAILABLE", "The chain's node did not give a usable answer.", {
    details: { chainId, reason },
  });
}
