import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { toAddress, toHex, toHex32 } from "../../core/hex.ts";
import { REFUND_REASONS } from "../../core/refund-reason.ts";
import { encodeOrders, parseOrders } from "./order-codec.ts";
import type { Order } from "./orders.ts";

const hexOf = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((array) => `0x${Buffer.from(array).toString("hex")}`);
const word = hexOf(32).map(toHex32);
const account = hexOf(32).map(toAddress);
const anyAccount = fc.oneof(hexOf(20), hexOf(32)).map(toAddress);
const amount = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const signature = hexOf(65).map(toHex);
const bps = fc.integer({ min: 0, max: 10_000 });
const commitment = fc.record({
  integrator: word,
  userId: word,
  destChain: fc.integer({ min: 1, max: 65_535 }),
  destWallet: word,
  destToken: word,
  refundAuthority: word,
  maxFeeBps: bps,
  maxSlippageBps: bps,
  routes: word,
  flags: fc.integer({ min: 0, max: 1 }),
});
const sources = fc.array(fc.record({ account, amount }), { minLength: 1, maxLength: 3 });
const price = fc.record({
  price: fc.record({ rate: amount, maxAmount: amount, deadline: amount }),
  signature,
});
const kind = <K extends Order["kind"]>(name: K) => fc.constant(name);

const order: fc.Arbitrary<Order> = fc.oneof(
  withOptional("sources", sources, {
    kind: kind("lock"),
    commitment,
    token: account,
    amount,
    minOut: amount,
    price: fc.option(price),
    seq: amount,
    lockedAt: amount,
    delivery: word,
    asOf: amount,
  }),
  withEnding({
    kind: kind("claim"),
    deliveryId: word,
    token: account,
    amount,
    paidAmount: amount,
    deadline: amount,
    signature,
  }),
  withEnding({
    kind: kind("return"),
    commitment,
    token: account,
    amount,
    minOut: amount,
    seq: amount,
    delivery: word,
    deadline: amount,
    signature,
  }),
  fc.record({
    kind: kind("deliver"),
    order: fc.record({
      commitment,
      srcChain: fc.integer({ min: 1, max: 65_535 }),
      escrow: anyAccount,
      srcToken: anyAccount,
      lockedAmount: amount,
      minOut: amount,
      seq: amount,
      windowStart: amount,
      amount,
    }),
    signature,
  }),
  withOptional("sources", sources, {
    kind: kind("transfer"),
    commitment,
    token: account,
    amount,
    fee: amount,
    asOf: amount,
  }),
  withOptional("sources", sources, {
    kind: kind("refund"),
    commitment,
    token: account,
    amount,
    reason: fc.constantFrom(null, ...REFUND_REASONS),
  }),
);

/** Adds either way of ending a lock to a record, or neither. */
function withEnding<T>(fields: { [P in keyof T]: fc.Arbitrary<T[P]> }) {
  const whole = fc.constant(true as const);
  return fc.oneof(withOptional("held", amount, fields), withOptional("whole", whole, fields));
}

/** Adds an optional field to a record. */
function withOptional<T, K extends string, V>(
  key: K,
  value: fc.Arbitrary<V>,
  fields: { [P in keyof T]: fc.Arbitrary<T[P]> },
): fc.Arbitrary<T & { [P in K]?: V }> {
  return fc.tuple(fc.record(fields), fc.option(value, { nil: undefined })).map(([record, more]) => {
    // CAST: the field is there or not, as its type says.
    return (more === undefined ? record : { ...record, [key]: more }) as T & { [P in K]?: V };
  });
}

describe("orders encoded in calldata", () => {
  test("decode to the same orders", () => {
    fc.assert(
      fc.property(fc.array(order, { minLength: 1, maxLength: 3 }), (orders) => {
        expect(parseOrders(encodeOrders(orders))).toEqual(orders);
      }),
    );
  });

  test("are refused with a missing, unknown, reordered or malformed field", () => {
    fc.assert(
      fc.property(order, fc.nat(), (one, pick) => {
        const data = encodeOrders([one]);
        const [written] = readJson(data);
        const names = Object.keys(written ?? {});
        const name = names[pick % names.length] ?? "kind";
        const { [name]: value, ...rest } = written ?? {};
        const others = [
          // Without an optional field it is a valid, different order.
          ...(["sources", "held", "whole"].includes(name) ? [] : [[rest]]),
          [{ ...written, more: 1 }],
          names.length > 1 && name !== names.at(-1) ? [{ ...rest, [name]: value }] : [written, 1],
          [{ ...written, [name]: typeof value === "string" ? `${value} ` : 7n.toString() }],
        ];
        for (const other of others) expect(() => parseOrders(writeJson(other))).toThrow(TypeError);
      }),
    );
  });

  test("are refused with spaces, leading zeros, an empty list or other bytes", () => {
    const refund: Order = {
      kind: "refund",
      commitment: fc.sample(commitment, 1)[0] ?? never(),
      token: toAddress(`0x${"ab".repeat(32)}`),
      amount: 7n,
      reason: "expired",
    };
    const text = Buffer.from(encodeOrders([refund]).slice(2), "hex").toString();
    expect(() => parseOrders(hexOfText(text))).not.toThrow();
    for (const other of [
      ` ${text}`,
      text.replace('"7"', '"07"'),
      text.replace('"7"', "7"),
      text.replace('"7"', '"-7"'),
      text.replace('"reason":4', '"reason":5'),
      text.replace('"reason":4', '"reason":"4"'),
      text.replace(',"reason":4', ""),
      text.replace("ab", "AB"),
      "[]",
      "",
      "{",
    ]) {
      expect(() => parseOrders(hexOfText(other))).toThrow(TypeError);
    }
    expect(() => parseOrders(toHex("0x"))).toThrow(TypeError);
  });
});

function readJson(data: string): Record<string, unknown>[] {
  return JSON.parse(Buffer.from(data.slice(2), "hex").toString());
}

function writeJson(value: unknown) {
  return hexOfText(JSON.stringify(value));
}

function hexOfText(text: string) {
  return toHex(`0x${Buffer.from(text).toString("hex")}`);
}

function never(): never {
  throw new Error("a sample has one");
}
