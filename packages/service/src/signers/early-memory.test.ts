import { expect, test } from "vitest";
import { hashOf } from "../../test/support/doubles.ts";
import { padAddress, toEvmAddress, toHex32 } from "../core/hex.ts";
import { createEarlyMemory, type EarlyBounds } from "./early-memory.ts";
import type { CountedPayout } from "./port.ts";

const ACCOUNT = toEvmAddress(`0x${"3".repeat(40)}`);
const idOf = (name: string) => toHex32(hashOf(name));

function payoutOf(name: string, worth: bigint, change: Partial<CountedPayout> = {}): CountedPayout {
  return {
    deliveryId: idOf(name),
    srcChain: 2,
    destChain: 30,
    escrow: ACCOUNT,
    lock: {
      commitment: idOf("commitment"),
      delivery: padAddress(ACCOUNT),
      token: ACCOUNT,
      amount: 1n,
      minOut: 1n,
      seq: 1n,
    },
    worth,
    deadline: 100n,
    signedAtMs: 1,
    ...change,
  };
}

const boundsOf =
  (acceptedLosses: EarlyBounds["acceptedLosses"] = []) =>
  () => ({
    exposure: 100n,
    acceptedLosses,
  });

test("the payouts of a chain are worth at most its exposure, together [T270]", () => {
  const memory = createEarlyMemory();
  memory.check(payoutOf("a", 100n), boundsOf());
  memory.remember(payoutOf("a", 60n));
  memory.check(payoutOf("b", 40n), boundsOf());
  expect(() => memory.check(payoutOf("b", 41n), boundsOf())).toThrow("above the exposure of 100");
  // Another chain has its own.
  memory.check(payoutOf("b", 100n, { srcChain: 30 }), boundsOf());
  memory.forget(idOf("a"));
  memory.check(payoutOf("b", 100n), boundsOf());
});

test("one that is signed again counts once, at its highest value and until its latest deadline [T270]", () => {
  const memory = createEarlyMemory();
  memory.remember(payoutOf("a", 60n, { deadline: 200n, signedAtMs: 5 }));
  memory.remember(payoutOf("a", 50n, { deadline: 150n, signedAtMs: 9 }));
  expect(memory.list(boundsOf())).toEqual([payoutOf("a", 60n, { deadline: 200n, signedAtMs: 5 })]);
  memory.check(payoutOf("a", 100n), boundsOf());
});

test("an accepted loss is not counted, and no longer watched", () => {
  const memory = createEarlyMemory();
  memory.remember(payoutOf("a", 60n));
  const bounds = boundsOf([idOf("a")]);
  expect(memory.list(bounds)).toEqual([]);
  memory.check(payoutOf("b", 100n), bounds);
  expect(memory.list(boundsOf())).toHaveLength(1);
});
