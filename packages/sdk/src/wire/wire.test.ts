import { describe, expect, test } from "vitest";
import { Value } from "typebox/value";
import * as wire from "./index.ts";

const ID = "0b5e0a4e-6f3c-4a53-9d7a-2f9f0a3f6c11";
const STAMP = "2026-01-31T12:00:00.000Z";
const ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

const DEPOSIT = { walletAddress: ADDRESS, chainId: 30, tokenAddress: ADDRESS };
const SWAP = {
  ...DEPOSIT,
  id: ID,
  status: "failed_swap",
  phase: "swap",
  category: "retrying",
  terminal: false,
  amount: null,
  swapTxHash: null,
  error: { code: "RPC_UNAVAILABLE", message: "No node answers.", retryable: true },
  retryCount: 1,
  userId: `0x${"0".repeat(40)}`,
  destChain: "2",
  destWallet: ADDRESS,
  destToken: ADDRESS,
  createdAt: STAMP,
  updatedAt: STAMP,
};
const STATUS_CHANGED = {
  ...DEPOSIT,
  queueItemId: ID,
  status: "failed_swap",
  prevStatus: "swapping",
  phase: "swap",
  category: "retrying",
  terminal: false,
  retryCount: 1,
  txHash: null,
  error: SWAP.error,
};
const REQUEST = { fromChain: "base", fromToken: ADDRESS, toChain: "base", toToken: ADDRESS };

/** Every exported schema with an `$id`, by its exported name. */
const named = Object.entries(wire).flatMap(([name, value]) =>
  typeof value === "object" && "$id" in value ? [{ name, schema: value }] : [],
);

/** Returns every `$id` in a schema, including nested ones. */
function idsIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === "$id" && typeof value === "string" ? [value] : idsIn(value),
  );
}

describe("schemas", () => {
  test("are found by their $id", () => {
    expect(named.length).toBeGreaterThan(15);
  });

  test.each(named)("$name has its exported name as $id, and a description", ({ name, schema }) => {
    expect(schema).toMatchObject({ $id: name, description: expect.any(String) });
  });

  test.each(named)("$name contains no $id twice, which serializers reject", ({ schema }) => {
    const ids = idsIn(schema);
    expect(ids).toEqual([...new Set(ids)]);
  });

  test.each(named)("$name describes every property", ({ schema }) => {
    expect(undescribed(schema)).toEqual([]);
  });
});

/** Returns the names of properties without a description. */
function undescribed(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const own =
    "properties" in schema && typeof schema.properties === "object" && schema.properties !== null
      ? Object.entries(schema.properties).flatMap(([key, value]) =>
          typeof value === "object" && value !== null && "description" in value ? [] : [key],
        )
      : [];
  return [...own, ...Object.values(schema).flatMap(undescribed)];
}

describe("Swap", () => {
  test("accepts the published example and unknown fields", () => {
    expect(Value.Check(wire.Swap, SWAP)).toBe(true);
    expect(Value.Check(wire.Swap, { ...SWAP, added: 1 })).toBe(true);
  });

  test.each(Object.keys(SWAP))("requires %s", (field) => {
    const rest = Object.fromEntries(Object.entries(SWAP).filter(([key]) => key !== field));
    expect(Value.Check(wire.Swap, rest)).toBe(false);
  });

  test.each(Object.keys(SWAP))("accepts null for %s only if it is nullable", (field) => {
    const nullable = ["amount", "swapTxHash", "error"].includes(field);
    expect(Value.Check(wire.Swap, { ...SWAP, [field]: null })).toBe(nullable);
  });
});

describe("ErrorObject", () => {
  const error = { code: "NO_ROUTE", message: "No route.", retryable: true };

  test("accepts absent details and primitive values in them", () => {
    expect(Value.Check(wire.ErrorObject, error)).toBe(true);
    expect(Value.Check(wire.ErrorObject, { ...error, details: { reason: "x", n: 1 } })).toBe(true);
  });

  test("rejects null and nested details", () => {
    expect(Value.Check(wire.ErrorObject, { ...error, details: null })).toBe(false);
    expect(Value.Check(wire.ErrorObject, { ...error, details: { inner: {} } })).toBe(false);
  });

  test("rejects an unknown code", () => {
    expect(Value.Check(wire.ErrorObject, { ...error, code: "OTHER" })).toBe(false);
  });
});

describe("DepositDetectedData", () => {
  test.each([
    [{ ...DEPOSIT, queued: true }, true],
    [{ ...DEPOSIT, queued: false, ignoredReason: "below_min" }, true],
    [{ ...DEPOSIT, queued: true, ignoredReason: "below_min" }, false],
    [{ ...DEPOSIT, queued: false }, false],
    [{ ...DEPOSIT, queued: false, ignoredReason: "other" }, false],
    [{ ...DEPOSIT, queued: false, ignoredReason: null }, false],
    [{ ...DEPOSIT, queued: true, amount: "1" }, false],
  ])("has a reason exactly when it is not queued: %j", (data, isValid) => {
    expect(Value.Check(wire.DepositDetectedData, data)).toBe(isValid);
  });
});

describe("events", () => {
  const event = { type: "status_changed", data: STATUS_CHANGED, timestamp: STAMP };

  test("require an id in the replay and none on the stream", () => {
    expect(Value.Check(wire.EventItem, { id: ID, ...event })).toBe(true);
    expect(Value.Check(wire.EventItem, event)).toBe(false);
    expect(Value.Check(wire.StreamEvent, event)).toBe(true);
  });

  test("have the data of their type", () => {
    expect(Value.Check(wire.StreamEvent, { ...event, type: "deposit_detected" })).toBe(false);
  });
});

describe("RequestIndexResponse", () => {
  const echo = { chainId: 30, walletAddress: ADDRESS, tokenAddress: "native" };

  test.each([
    [{ queued: true, queueItemId: ID, reason: null }, true],
    [{ queued: false, queueItemId: null, reason: "already_queued" }, true],
    [{ queued: true, queueItemId: null, reason: null }, false],
    [{ queued: false, queueItemId: null, reason: null }, false],
    [{ queued: true, queueItemId: ID }, false],
  ])("has either an id or a reason: %j", (outcome, isValid) => {
    expect(Value.Check(wire.RequestIndexResponse, { ...echo, ...outcome })).toBe(isValid);
  });
});

describe("queries", () => {
  test.each([
    [1, true],
    [100, true],
    [0, false],
    [101, false],
    [1.5, false],
  ])("of a list accept limit %d: %s", (limit, isValid) => {
    expect(Value.Check(wire.ListQuery, { limit })).toBe(isValid);
  });

  test.each([
    [1, true],
    [200, true],
    [0, false],
    [201, false],
  ])("of the replay accept limit %d: %s", (limit, isValid) => {
    expect(Value.Check(wire.EventsQuery, { limit })).toBe(isValid);
  });

  test.each([
    [STAMP, true],
    ["2026-01-31", true],
    ["2026-01-31T12:00Z", true],
    ["2026-01-31T12:00:00+02:00", true],
    ["2026-01-31T12:00:00.123456Z", true],
    ["yesterday", false],
    ["1769860800000", false],
    ["", false],
  ])("accept an ISO 8601 cursor: %j, %s", (cursor, isValid) => {
    expect(Value.Check(wire.ListQuery, { cursor })).toBe(isValid);
  });
});

describe("QuoteRequest", () => {
  test("accepts requests of clients in a body and in a query, including unknown fields", () => {
    const body = { ...REQUEST, amountIn64: "1", slippageBps: "auto", payDeposit: true, other: {} };
    const query = { ...REQUEST, amountIn: "1.5", slippageBps: "50", payDeposit: "true" };
    expect(Value.Check(wire.QuoteRequest, body)).toBe(true);
    expect(Value.Check(wire.QuoteRequest, query)).toBe(true);
  });

  test.each([
    [0, true],
    [500, true],
    ["500", true],
    ["auto", true],
    [501, false],
    ["501", false],
    [-1, false],
    ["fast", false],
  ])("accepts slippageBps up to 500: %j, %s", (slippageBps, isValid) => {
    expect(Value.Check(wire.QuoteRequest, { ...REQUEST, slippageBps })).toBe(isValid);
  });

  test.each([
    ["0x1", true],
    [`0x${"f".repeat(40)}`, true],
    [`0x${"0".repeat(24)}${"F".repeat(40)}`, true],
    [`0x${"0".repeat(300)}1`, true],
    [`0x1${"0".repeat(300)}`, false],
    [`0x1${"0".repeat(40)}`, false],
    ["0x", false],
    ["order-1", false],
  ])("accepts a payUserId whose value fits 20 bytes: %s, %s", (payUserId, isValid) => {
    expect(Value.Check(wire.QuoteRequest, { ...REQUEST, payUserId })).toBe(isValid);
  });
});

describe("tables", () => {
  test("mark exactly `completed` and `dead` as terminal, in the phase `done`", () => {
    const terminal = wire.SETTLEMENT_STATUS_NAMES.filter(wire.isTerminal);
    const done = wire.SETTLEMENT_STATUS_NAMES.filter((status) => wire.phaseOf(status) === "done");
    expect(terminal).toEqual(["completed", "dead"]);
    expect(done).toEqual(terminal);
  });

  test("mark only `completed` as a success", () => {
    const success = wire.SETTLEMENT_STATUS_NAMES.filter(
      (status) => wire.categoryOf(status) === "success",
    );
    expect(success).toEqual(["completed"]);
  });

  test("mark exactly these codes as not retryable", () => {
    const final = wire.ERROR_CODE_NAMES.filter((code) => !wire.ERROR_CODES[code].retryable);
    expect(final).toEqual([
      "VALIDATION_ERROR",
      "UNAUTHORIZED",
      "FORBIDDEN",
      "UNSUPPORTED_CHAIN",
      "NOT_CONFIGURED",
      "NOT_FOUND",
      "UNSUPPORTED_ROUTE",
      "UNSUPPORTED_DEST",
    ]);
  });
});
