/**
 * The signer's memory of orders, on a chain without contracts of ours to keep it: replays, endings of locks, caps and
 * budgets. It is rebuilt from the journal at start.
 */
import type { Address, Hex32 } from "../core/hex.ts";
import type { Lifetime } from "../chains/port/index.ts";
import { createDailySum, type DailySum, DAY_MS } from "./daily-sum.ts";
import type { JournalEntry } from "./journal.ts";
import { SignerRefusal, SignerWaits } from "./refusal.ts";

/** The facts of an order that decide what may be signed after it. */
export interface GuardedOrder {
  readonly kind: (JournalEntry & { readonly kind: "orders" })["orders"][number]["kind"];
  /** Delivery id, or the hash of an order that has none. */
  readonly id: Hex32;
  readonly token: Address;
  /** Base units. */
  readonly amount: bigint;
  /** Locks only: the least that the delivery may pay, in base units of the destination token. */
  readonly minOut?: bigint;
  /** Claims only. */
  readonly paidAmount?: bigint;
}

/** One Solana message with all of its effects. */
export interface GuardedMessage {
  readonly messageHash: Hex32;
  readonly lifetime: Lifetime;
  readonly orders: readonly GuardedOrder[];
  /** Maximum cost to the fee payer: fees and rent. */
  readonly lamports: bigint;
}

export interface OrderLimits {
  /** Returns the most that deliveries may pay of a token in any 24 hours, in base units. */
  readonly dailyCapOf: (token: Address) => bigint;
  /** Most lamports that a lane may commit to fees and rent in 24 hours; undefined for no limit. */
  readonly dailyBudget: bigint | undefined;
  /** Lamports of the budget that only claims may use. */
  readonly claimReserve: bigint;
}

/** Blocks for which a transaction is valid. */
const LIFETIME_BLOCKS = 150n;
/** Far above the lifetime of a signed transaction (about a minute). */
const SETTLED_MS = 600_000;

interface Signed {
  readonly kind: GuardedOrder["kind"];
  readonly id: Hex32;
  readonly messageHash: Hex32;
  readonly lastValidHeight: bigint;
  readonly atMs: number;
}

interface Delivered {
  readonly token: Address;
  readonly amount: bigint;
  readonly atMs: number;
  /** Takes the amount out of the sum of its token. */
  readonly takeBack: () => void;
}

interface KnownLock {
  readonly token: Address;
  readonly amount: bigint;
  readonly minOut: bigint;
  /** Time of the last repeated signature; until `SETTLED_MS` later an older signature may still be mined. */
  readonly signedAgainMs: number | null;
}

/** Decides from the orders signed so far whether a message may be signed. */
export interface OrderMemory {
  /** Returns whether the journal has exactly this message. */
  isRecorded(message: GuardedMessage): boolean;
  /** Throws `SignerRefusal` for a message that may never be signed, `SignerWaits` for one that may be signed later. */
  check(lane: Address, message: GuardedMessage, limits: OrderLimits, nowMs: number): void;
  /** Records a signed message; also called for every journal entry at start. */
  remember(lane: Address, message: GuardedMessage, atMs: number): void;
  /** Returns what deliveries may still pay of a token under its 24-hour cap, in base units. */
  capLeft(token: Address, cap: bigint, nowMs: number): bigint;
}

/** Creates an empty memory. */
export function createOrderMemory(): OrderMemory {
  /** By `onceOf`: the newest signature for each effect that may happen once. */
  const newest = new Map<string, Signed>();
  const locks = new Map<Hex32, KnownLock>();
  /** Kept permanently: after an ending the chain would allow the same lock to be opened again. */
  const endings = new Map<Hex32, "claim" | "return">();
  /** By delivery id: amounts delivered in the last 24 hours, newest last. */
  const delivered = new Map<Hex32, Delivered>();
  /** By token: the amounts of `delivered`. */
  const deliveredOf = new Map<Address, DailySum>();
  /** By lane: lamports committed to fees and rent. */
  const spent = new Map<Address, DailySum>();

  function checkOnce(order: GuardedOrder, message: GuardedMessage): void {
    const known = newest.get(onceOf(order));
    if (!known || known.messageHash === message.messageHash) return;
    // A lifetime is 150 blocks from its blockhash, so one that ends 150 blocks later starts after the first expired.
    if (message.lifetime.lastValidHeight <= known.lastValidHeight + LIFETIME_BLOCKS) {
      throw new SignerWaits(
        `an earlier signature of ${order.kind} ${order.id} is valid up to height ${known.lastValidHeight}`,
      );
    }
  }

  function checkLock(order: GuardedOrder): void {
    const ending = endings.get(order.id);
    if (ending) throw new SignerRefusal(`lock ${order.id} again after its ${ending}`);
    const known = locks.get(order.id);
    if (known && !isSameLock(known, order)) {
      throw new SignerRefusal(`another lock was signed for id ${order.id}`);
    }
  }

  function checkEnding(order: GuardedOrder, ending: "claim" | "return", nowMs: number): void {
    const { id, paidAmount } = order;
    const before = endings.get(id) ?? ending;
    if (before !== ending) throw new SignerRefusal(`${ending} after the lock's ${before}`);
    const lock = locks.get(id);
    // The lock is older than this journal (the previous one was lost): the attestation alone decides.
    if (!lock) return;
    if (lock.token !== order.token || lock.amount !== order.amount) {
      throw new SignerRefusal(`${ending} of another token or amount than was locked`);
    }
    if (paidAmount !== undefined && paidAmount < lock.minOut) {
      throw new SignerRefusal(`claim for ${paidAmount}, less than the lock's ${lock.minOut}`);
    }
    if (lock.signedAgainMs !== null && lock.signedAgainMs > nowMs - SETTLED_MS) {
      throw new SignerWaits(`another signature of lock ${id} may still be valid`);
    }
  }

  function checkCap(orders: readonly GuardedOrder[], limits: OrderLimits, nowMs: number): void {
    for (const token of new Set(orders.map((order) => order.token))) {
      const wanted = orders.filter((order) => order.token === token);
      // A delivery that is signed again counts once: it is paid once.
      const total = wanted.reduce(
        (sum, { id, amount }) => {
          const before = amountLately(id, token, nowMs);
          return amount > before ? sum + amount - before : sum;
        },
        deliveredOf.get(token)?.at(nowMs) ?? 0n,
      );
      const cap = limits.dailyCapOf(token);
      if (total > cap)
        throw new SignerRefusal(`deliveries of ${token} above its daily cap of ${cap}`);
    }
  }

  function amountLately(id: Hex32, token: Address, nowMs: number): bigint {
    const known = delivered.get(id);
    return known && known.token === token && known.atMs > nowMs - DAY_MS ? known.amount : 0n;
  }

  return {
    isRecorded: ({ orders, messageHash }) =>
      orders.every((order) => newest.get(onceOf(order))?.messageHash === messageHash),

    capLeft(token, cap, nowMs) {
      const paid = deliveredOf.get(token)?.at(nowMs) ?? 0n;
      return cap > paid ? cap - paid : 0n;
    },

    check(lane, message, limits, nowMs) {
      const { orders, lamports } = message;
      const names = orders.map(onceOf);
      if (new Set(names).size !== names.length) {
        throw new SignerRefusal("the same order twice in one transaction");
      }
      for (const order of orders) {
        checkOnce(order, message);
        if (order.kind === "lock") checkLock(order);
        if (order.kind === "claim" || order.kind === "return") {
          checkEnding(order, order.kind, nowMs);
        }
      }
      checkCap(
        orders.filter(({ kind }) => kind === "deliver"),
        limits,
        nowMs,
      );
      const { dailyBudget, claimReserve } = limits;
      if (dailyBudget === undefined) return;
      const isClaim = orders.every(({ kind }) => kind === "claim");
      const budget = isClaim ? dailyBudget : dailyBudget - claimReserve;
      const lately = spent.get(lane)?.at(nowMs) ?? 0n;
      if (lately + lamports > budget) {
        throw new SignerWaits(`the daily budget of ${budget} lamports is used up`);
      }
    },

    remember(lane, message, atMs) {
      const { orders, lifetime, lamports, messageHash } = message;
      const { lastValidHeight } = lifetime;
      for (const { kind, id } of forget(newest, atMs)) {
        if (kind === "claim" || kind === "return") locks.delete(id);
      }
      forget(delivered, atMs);
      sumOf(spent, lane).add(lamports, atMs);
      for (const order of orders) {
        const { kind, id, token, amount } = order;
        put(newest, onceOf(order), { kind, id, messageHash, lastValidHeight, atMs });
        if (order.kind === "deliver") {
          const most = larger(amount, amountLately(id, token, atMs));
          delivered.get(id)?.takeBack();
          const takeBack = sumOf(deliveredOf, token).add(most, atMs);
          put(delivered, id, { token, amount: most, atMs, takeBack });
        }
        if (order.kind === "lock") {
          const signedAgainMs = locks.has(id) ? atMs : null;
          locks.set(id, { token, amount, minOut: order.minOut ?? 0n, signedAgainMs });
        }
        if (order.kind === "claim" || order.kind === "return") endings.set(id, order.kind);
      }
    },
  };
}

/** Names the effect that may happen once: a lock ends one way, so a claim and a return share their name. */
function onceOf({ kind, id }: GuardedOrder): string {
  return `${kind === "return" ? "claim" : kind} ${id}`;
}

function isSameLock(known: KnownLock, { token, amount, minOut }: GuardedOrder): boolean {
  return known.token === token && known.amount === amount && known.minOut === minOut;
}

/** Returns the sum of a lane or a token, empty at first. */
function sumOf(sums: Map<Address, DailySum>, key: Address): DailySum {
  const sum = sums.get(key) ?? createDailySum();
  sums.set(key, sum);
  return sum;
}

/** Sets a key as the map's newest entry. */
function put<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.delete(key);
  map.set(key, value);
}

/** Removes and returns entries older than a day. Assumes insertion order is time order. */
function forget<Value extends { readonly atMs: number }>(
  map: Map<string, Value>,
  nowMs: number,
): readonly Value[] {
  const forgotten: Value[] = [];
  for (const [key, value] of map) {
    if (value.atMs > nowMs - DAY_MS) break;
    map.delete(key);
    forgotten.push(value);
  }
  return forgotten;
}

function larger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
