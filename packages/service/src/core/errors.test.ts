import { ERROR_CODES, type ErrorCode } from "@sluice/sdk/wire";
import { describe, expect, test } from "vitest";
import { fromErrorObject, OperatingError, toErrorObject, toOperatingError } from "./errors.ts";

/** Each code with the event after which the same request can succeed; null where only another request can. */
const MENDED_BY: Readonly<Record<ErrorCode, string | null>> = {
  VALIDATION_ERROR: null,
  UNAUTHORIZED: null,
  FORBIDDEN: null,
  UNSUPPORTED_CHAIN: null,
  RESOLVE_FAILED: "the node answers",
  NOT_CONFIGURED: null,
  NOT_FOUND: null,
  INSUFFICIENT_BALANCE: "the relayer or inventory is funded",
  AMOUNT_TOO_SMALL: "fees fall, or the price rises",
  FEE_NOT_COVERED: "gas gets cheaper",
  NO_ROUTE: "a route returns",
  QUOTE_INVALID: "the next quote is valid",
  UNSUPPORTED_ROUTE: null,
  UNSUPPORTED_DEST: null,
  TX_REVERTED: "the next transaction succeeds",
  SIMULATION_REVERTED: "the next simulation succeeds",
  RPC_UNAVAILABLE: "the node answers, or the rate limit ends",
  PRICE_UNAVAILABLE: "the price returns",
  REORG: "the step is mined again",
  CONFIG_MISSING: "the setting is made, or a pause ends",
  INTERNAL: "the cause ends",
};

describe("retryable", () => {
  test.each(Object.entries(MENDED_BY))("of %s is true where a retry can mend it", (code, mend) => {
    // CAST: the keys of the table are the codes.
    const error = new OperatingError(code as ErrorCode, "A message.");
    expect(error.retryable).toBe(mend !== null);
    expect(ERROR_CODES[error.code].retryable).toBe(mend !== null);
    expect(toErrorObject(error).retryable).toBe(mend !== null);
  });

  test("of a cause that stays is false, whatever the code", () => {
    const error = new OperatingError("RPC_UNAVAILABLE", "A message.", { retryable: false });
    expect(toErrorObject(error)).toMatchObject({ code: "RPC_UNAVAILABLE", retryable: false });
  });

  test("of a settlement that gave up is false, and true again once it is read for a retry", () => {
    const dead = toErrorObject(new OperatingError("TX_REVERTED", "A message."), false);
    expect(dead.retryable).toBe(false);
    expect(fromErrorObject(dead).retryable).toBe(true);
  });

  test("of an unknown failure is true", () => {
    expect(toOperatingError(new Error("a bug"))).toMatchObject({
      code: "INTERNAL",
      retryable: true,
    });
  });
});
