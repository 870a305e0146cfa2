import { describe, expect, test } from "vitest";
import { type Address, toAddress, toHex32 } from "../core/hex.ts";
import {
  createOrderMemory,
  type GuardedMessage,
  type GuardedOrder,
  type OrderLimits,
} from "./order-memory.ts";
import { SignerWaits } from "./refusal.ts";

const LANE = toAddress(`0x${"1a".repeat(32)}`);
const TOKEN = toAddress(`0x${"70".repeat(32)}`);
const OTHER_TOKEN = toAddress(`0x${"71".repeat(32)}`);
const DAY_MS = 86_400_000;
const word = (byte: string) => toHex32(`0x${byte.repeat(32)}`);
const lock: GuardedOrder = {
  kind: "lock",
  id: word("1d"),
  token: TOKEN,
  amount: 100n,
  minOut: 99n,
};
const claim: GuardedOrder = {
  kind: "claim",
  id: lock.id,
  token: TOKEN,
  amount: 100n,
  paidAmount: 99n,
};
const giveBack: GuardedOrder = { kind: "return", id: lock.id, token: TOKEN, amount: 100n };
const delivery = (id: string, amount: bigint, token: Address = TOKEN): GuardedOrder => ({
  kind: "deliver",
  id: word(id),
  token,
  amount,
});

let messages = 0;
/** Returns a message with a unique hash. */
function messageOf(orders: readonly GuardedOrder[], lastValidHeight = 1_000n, lamports = 10_000n) {
  messages += 1;
  const hash = messages.toString(16).padStart(64, "0");
  const message: GuardedMessage = {
    messageHash: toHex32(`0x${hash}`),
    lifetime: { blockhash: toHex32(`0x${hash}`), lastValidHeight },
    orders,
    lamports,
  };
  return message;
}

function open(limits: Partial<OrderLimits> = {}) {
  const memory = createOrderMemory();
  const all: OrderLimits = {
    dailyCapOf: () => 1_000n,
    dailyBudget: undefined,
    claimReserve: 0n,
    ...limits,
  };
  const check = (message: GuardedMessage, nowMs = 0) => memory.check(LANE, message, all, nowMs);
  return {
    memory,
    check,
    sign(message: GuardedMessage, nowMs = 0): void {
      check(message, nowMs);
      memory.remember(LANE, message, nowMs);
    },
  };
}

/** Returns whether the check delays a message instead of refusing it. */
function isWaiting(run: () => void): boolean {
  try {
    run();
    return false;
  } catch (error) {
    if (error instanceof SignerWaits) return true;
    throw error;
  }
}

describe("an order whose signature can still be mined", () => {
  test.each([lock, claim, giveBack, delivery("2d", 5n)])(
    "delays a second $kind with the same id [T39]",
    (order) => {
      const { check, sign, memory } = open();
      const first = messageOf([order], 1_000n);
      sign(first);
      expect(memory.isRecorded(first)).toBe(true);
      expect(isWaiting(() => check(messageOf([order], 1_000n)))).toBe(true);
      // A lifetime that ends 150 blocks later starts in the last block of the first one.
      expect(isWaiting(() => check(messageOf([order], 1_150n)))).toBe(true);
      sign(messageOf([order], 1_151n));
      expect(memory.isRecorded(first)).toBe(false);
    },
  );

  test("does not delay orders with another id or of another kind", () => {
    const { sign } = open();
    sign(messageOf([delivery("2d", 5n)]));
    sign(messageOf([delivery("3d", 5n)]));
    expect(() => sign(messageOf([{ ...lock, id: word("2d") }]))).not.toThrow();
  });

  test("delays a return after a claim of the same lock", () => {
    const { check, sign } = open();
    sign(messageOf([claim]));
    expect(isWaiting(() => check(messageOf([giveBack])))).toBe(true);
    expect(() => check(messageOf([giveBack], 5_000n))).toThrow("return after the lock's claim");
  });

  test("cannot occur twice in one transaction", () => {
    const { check } = open();
    expect(() => check(messageOf([claim, claim]))).toThrow("the same order twice");
    expect(() => check(messageOf([claim, giveBack]))).toThrow("the same order twice");
  });
});

describe("a lock", () => {
  test("is never signed again after its claim, even 500 days later", () => {
    const { check, sign } = open();
    sign(messageOf([lock]));
    sign(messageOf([claim], 2_000n), DAY_MS);
    sign(messageOf([delivery("2d", 1n)], 3_000n), 400 * DAY_MS);
    expect(() => check(messageOf([lock], 99_000n), 500 * DAY_MS)).toThrow("again after its claim");
  });

  test("never changes its amount, token or minimum", () => {
    const { check, sign } = open();
    sign(messageOf([lock]));
    for (const change of [{ amount: 99n }, { minOut: 98n }, { token: OTHER_TOKEN }]) {
      expect(() => check(messageOf([{ ...lock, ...change }], 5_000n))).toThrow(
        "another lock was signed",
      );
    }
  });

  test("is ended with its own token and amount, and claimed for at least its minimum", () => {
    const { check, sign } = open();
    sign(messageOf([lock]));
    expect(() => check(messageOf([{ ...claim, amount: 1n }]))).toThrow("another token or amount");
    expect(() => check(messageOf([{ ...giveBack, amount: 101n }]))).toThrow(
      "another token or amount",
    );
    expect(() => check(messageOf([{ ...claim, token: OTHER_TOKEN }]))).toThrow(
      "another token or amount",
    );
    expect(() => check(messageOf([{ ...claim, paidAmount: 98n }]))).toThrow("less than the lock's");
    sign(messageOf([claim]));
  });

  test("that was signed twice is ended only after its other signature has expired", () => {
    const { check, sign } = open();
    sign(messageOf([lock], 1_000n), 0);
    sign(messageOf([lock], 2_000n), 1_000);
    expect(isWaiting(() => check(messageOf([claim]), 2_000))).toBe(true);
    expect(isWaiting(() => check(messageOf([giveBack]), 600_000))).toBe(true);
    expect(() => check(messageOf([claim]), 601_001)).not.toThrow();
  });

  test("from before a lost journal is ended on the attestor's signature", () => {
    expect(() => open().sign(messageOf([claim]))).not.toThrow();
  });
});

describe("the daily cap", () => {
  test("limits the deliveries of a token in any 24 hours", () => {
    const { check, sign } = open();
    sign(messageOf([delivery("01", 600n)]), 0);
    sign(messageOf([delivery("02", 400n)]), DAY_MS / 2);
    expect(() => check(messageOf([delivery("03", 1n)]), DAY_MS - 1)).toThrow("daily cap of 1000");
    check(messageOf([delivery("03", 1_000n, OTHER_TOKEN)]), DAY_MS - 1);
    check(messageOf([delivery("03", 600n)]), DAY_MS);
    expect(() => check(messageOf([delivery("03", 601n)]), DAY_MS)).toThrow("daily cap");
  });

  test("reports as left exactly the amount that may still be signed", () => {
    const { memory, check, sign } = open();
    const left = (nowMs: number, cap = 1_000n) => memory.capLeft(TOKEN, cap, nowMs);
    expect(left(0)).toBe(1_000n);
    sign(messageOf([delivery("01", 600n)]), 0);
    sign(messageOf([delivery("02", 100n)]), DAY_MS / 2);
    sign(messageOf([delivery("02", 100n)], 2_000n), DAY_MS / 2);
    expect(left(DAY_MS - 1)).toBe(300n);
    check(messageOf([delivery("03", 300n)]), DAY_MS - 1);
    expect(() => check(messageOf([delivery("03", 301n)]), DAY_MS - 1)).toThrow("daily cap");
    expect(left(DAY_MS)).toBe(900n);
    // The cap was lowered below the paid amount.
    expect(left(DAY_MS - 1, 500n)).toBe(0n);
    expect(memory.capLeft(OTHER_TOKEN, 1_000n, DAY_MS - 1)).toBe(1_000n);
  });

  test("counts all deliveries of one transaction", () => {
    const { check } = open();
    expect(() => check(messageOf([delivery("01", 600n), delivery("02", 401n)]))).toThrow("cap");
  });

  test("counts a delivery that is signed again once, at its highest amount", () => {
    const { check, sign } = open();
    sign(messageOf([delivery("01", 900n)], 1_000n));
    sign(messageOf([delivery("01", 900n)], 2_000n));
    sign(messageOf([delivery("01", 100n)], 3_000n));
    expect(() => check(messageOf([delivery("02", 101n)]))).toThrow("daily cap");
    check(messageOf([delivery("02", 100n)]));
  });
});

test("a cap leaves the rest above the single deliveries of a day [T329]", () => {
  const { memory } = open();
  const signed = new Map<string, { atMs: number; amount: bigint; token: Address }>();
  const tokens = [TOKEN, OTHER_TOKEN];
  for (let step = 0; step < 600; step++) {
    const nowMs = step * 700_000;
    // Some are signed again within a day, and others when they no longer count.
    const place = step % 3 === 0 ? (step * 37) % 40 : 40 + ((step * 37) % 150);
    const id = place.toString(16).padStart(2, "0");
    const token = step % 5 === 0 ? OTHER_TOKEN : TOKEN;
    const before = signed.get(id);
    const known = before && before.token === token && before.atMs > nowMs - DAY_MS;
    const amount = BigInt(1 + ((step * 53) % 97));
    memory.remember(LANE, messageOf([delivery(id, amount, token)]), nowMs);
    const most = known && before.amount > amount ? before.amount : amount;
    signed.set(id, { atMs: nowMs, amount: most, token });
    for (const later of [nowMs, nowMs + DAY_MS / 2]) {
      for (const one of tokens) {
        const paid = [...signed.values()]
          .filter(({ token: of, atMs }) => of === one && atMs > later - DAY_MS)
          .reduce((sum, { amount: each }) => sum + each, 0n);
        expect(memory.capLeft(one, 100_000n, later)).toBe(100_000n - paid);
      }
    }
  }
});

test("a clock that was ahead for a time does not stop deliveries later [T329]", () => {
  const { check, sign } = open();
  sign(messageOf([delivery("01", 100n)]), 400 * DAY_MS);
  for (let day = 0; day < 10; day++) {
    const paid = messageOf([delivery((10 + day).toString(), 900n)]);
    expect(() => check(paid, day * DAY_MS)).not.toThrow();
    sign(paid, day * DAY_MS);
  }
});

test("the daily budget counts every signature, since a failed transaction also pays its fee", () => {
  const { check, sign } = open({ dailyBudget: 25_000n });
  sign(messageOf([delivery("01", 1n)], 1_000n), 0);
  sign(messageOf([delivery("01", 1n)], 2_000n), 0);
  expect(isWaiting(() => check(messageOf([delivery("02", 1n)]), DAY_MS - 1))).toBe(true);
  check(messageOf([delivery("02", 1n)]), DAY_MS);
});

test("a quarter of the daily budget is kept for claims [T266]", () => {
  const { check, sign } = open({ dailyBudget: 40_000n, claimReserve: 10_000n });
  for (const order of ["01", "02", "03"]) sign(messageOf([delivery(order, 1n)]));
  expect(isWaiting(() => check(messageOf([delivery("04", 1n)])))).toBe(true);
  sign(messageOf([claim]));
  expect(isWaiting(() => check(messageOf([{ ...claim, id: word("1e") }])))).toBe(true);
});
