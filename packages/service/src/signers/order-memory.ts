/**
 * What a signer remembers of the orders that it followed, on a chain that has no contracts to remember it. Everything is
 * read back from the journal.
 */
import type { Address, Hex32 } from "../core/hex.ts";
import type { Lifetime } from "../chains/port/index.ts";
import type { JournalEntry } from "./journal.ts";
import { SignerRefusal, SignerWaits } from "./refusal.ts";

/** An order, as far as it matters to what may be signed after it. */
export interface GuardedOrder {
  readonly kind: (JournalEntry & { readonly kind: "orders" })["orders"][number]["kind"];
  /** Of the delivery, or the hash of an order that has none. */
  readonly id: Hex32;
  readonly token: Address;
  /** Base units. */
  readonly amount: bigint;
  /** Of a lock. */
  readonly minOut?: bigint;
  /** Of a claim. */
  readonly paidAmount?: bigint;
}

/** One message with everything it does. */
export interface GuardedMessage {
  readonly messageHash: Hex32;
  readonly lifetime: Lifetime;
  readonly orders: readonly GuardedOrder[];
  /** The most that the fee payer loses by it. */
  readonly lamports: bigint;
}

export interface OrderLimits {
  /** The most that deliveries may pay of a token in any 24 hours, in base units. */
  readonly dailyCapOf: (token: Address) => bigint;
  /** Lamports that a lane may commit to fees and rent in 24 hours; undefined for any. */
  readonly dailyBudget: bigint | undefined;
}

/** Blocks for which a transaction is valid. */
const LIFETIME_BLOCKS = 150n;
const DAY_MS = 86_400_000;
/** Far longer than any signature lives. */
const SETTLED_MS = 600_000;

interface Signed {
  readonly kind: GuardedOrder["kind"];
  readonly id: Hex32;
  readonly messageHash: Hex32;
  readonly lastValidHeight: bigint;
  readonly atMs: number;
}

interface Spending {
  readonly atMs: number;
  readonly amount: bigint;
}

interface KnownLock {
  readonly token: Address;
  readonly amount: bigint;
  readonly minOut: bigint;
  /** When it was signed anew; a signature but the newest may still be alive for a while after. */
  readonly signedAgainMs: number | null;
}

export interface OrderMemory {
  /** Whether exactly this message is in the journal. */
  isRecorded(message: GuardedMessage): boolean;
  /** Throws `SignerRefusal` for what must not be signed after what was, `SignerWaits` for what may be signed later. */
  check(lane: Address, message: GuardedMessage, limits: OrderLimits, nowMs: number): void;
  remember(lane: Address, message: GuardedMessage, atMs: number): void;
  /** What deliveries may still pay of a token at a time under its cap over 24 hours, in base units. */
  capLeft(token: Address, cap: bigint, nowMs: number): bigint;
}

export function createOrderMemory(): OrderMemory {
  /** The newest signature for each thing that happens once, by what it is. */
  const newest = new Map<string, Signed>();
  const locks = new Map<Hex32, KnownLock>();
  /** For ever: after an ending the chain would let the same lock be opened again. */
  const endings = new Map<Hex32, "claim" | "return">();
  /** What was delivered of each id in the last 24 hours, the newest last. */
  const delivered = new Map<Hex32, Spending & { readonly token: Address }>();
  const spent = new Map<Address, Spending[]>();

  function deliveredLately(token: Address, nowMs: number): bigint {
    let sum = 0n;
    for (const known of delivered.values()) {
      if (known.token === token && known.atMs > nowMs - DAY_MS) sum += known.amount;
    }
    return sum;
  }

  function checkOnce(order: GuardedOrder, message: GuardedMessage): void {
    const known = newest.get(onceOf(order));
    if (!known || known.messageHash === message.messageHash) return;
    // A lifetime begins at its blockhash: one that ends so much later began when the other was over.
    if (message.lifetime.lastValidHeight <= known.lastValidHeight + LIFETIME_BLOCKS) {
      throw new SignerWaits(
        `what it signed for the ${order.kind} ${order.id} may be mined up to the height ${known.lastValidHeight}`,
      );
    }
  }

  function checkLock(order: GuardedOrder): void {
    const ending = endings.get(order.id);
    if (ending) throw new SignerRefusal(`the lock ${order.id} again after its ${ending}`);
    const known = locks.get(order.id);
    if (known && !isSameLock(known, order)) {
      throw new SignerRefusal(`another lock under the id ${order.id}`);
    }
  }

  function checkEnding(order: GuardedOrder, ending: "claim" | "return", nowMs: number): void {
    const { id, paidAmount } = order;
    const before = endings.get(id) ?? ending;
    if (before !== ending) throw new SignerRefusal(`a ${ending} after the lock's ${before}`);
    const lock = locks.get(id);
    // From before this journal, which was lost: the attestor's word stands alone.
    if (!lock) return;
    if (lock.token !== order.token || lock.amount !== order.amount) {
      throw new SignerRefusal(`a ${ending} of another amount than was locked`);
    }
    if (paidAmount !== undefined && paidAmount < lock.minOut) {
      throw new SignerRefusal(`a claim for ${paidAmount}, less than the lock's ${lock.minOut}`);
    }
    if (lock.signedAgainMs !== null && lock.signedAgainMs > nowMs - SETTLED_MS) {
      throw new SignerWaits(`another signature of the lock ${id} may be alive`);
    }
  }

  function checkCap(orders: readonly GuardedOrder[], limits: OrderLimits, nowMs: number): void {
    for (const token of new Set(orders.map((order) => order.token))) {
      const wanted = orders.filter((order) => order.token === token);
      // Signed anew, a delivery is counted once: it is paid once.
      const total = wanted.reduce(
        (sum, { id, amount }) => {
          const before = amountLately(id, token, nowMs);
          return amount > before ? sum + amount - before : sum;
        },
        deliveredLately(token, nowMs),
      );
      const cap = limits.dailyCapOf(token);
      if (total > cap) throw new SignerRefusal(`more of ${token} than its daily cap of ${cap}`);
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
      const paid = deliveredLately(token, nowMs);
      return cap > paid ? cap - paid : 0n;
    },

    check(lane, message, limits, nowMs) {
      const { orders, lamports } = message;
      const names = orders.map(onceOf);
      if (new Set(names).size !== names.length) {
        throw new SignerRefusal("an order twice in one transaction");
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
      const { dailyBudget } = limits;
      const lately = (spent.get(lane) ?? [])
        .filter(({ atMs }) => atMs > nowMs - DAY_MS)
        .reduce((sum, { amount }) => sum + amount, 0n);
      if (dailyBudget !== undefined && lately + lamports > dailyBudget) {
        throw new SignerWaits(`the daily budget of ${dailyBudget} lamports is used up`);
      }
    },

    remember(lane, message, atMs) {
      const { orders, lifetime, lamports, messageHash } = message;
      const { lastValidHeight } = lifetime;
      for (const { kind, id } of forget(newest, atMs)) {
        if (kind === "claim" || kind === "return") locks.delete(id);
      }
      forget(delivered, atMs);
      const spending = (spent.get(lane) ?? []).filter((known) => known.atMs > atMs - DAY_MS);
      spent.set(lane, [...spending, { atMs, amount: lamports }]);
      for (const order of orders) {
        const { kind, id, token, amount } = order;
        put(newest, onceOf(order), { kind, id, messageHash, lastValidHeight, atMs });
        if (order.kind === "deliver") {
          const before = amountLately(id, token, atMs);
          put(delivered, id, { token, amount: larger(amount, before), atMs });
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

/** What happens once: a lock ends one way, a delivery is paid once. */
function onceOf({ kind, id }: GuardedOrder): string {
  return `${kind === "return" ? "claim" : kind} ${id}`;
}

function isSameLock(known: KnownLock, { token, amount, minOut }: GuardedOrder): boolean {
  return known.token === token && known.amount === amount && known.minOut === minOut;
}

/** As the newest. */
function put<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.delete(key);
  map.set(key, value);
}

/** Takes out what is older than a day: a map has the oldest first. */
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
