import { describe, expect, test } from "vitest";
import { gateBalance } from "./gate.ts";

describe("gate", () => {
  test.each([
    [1_000_000n, 1_000_000n, { kind: "pass" }],
    [999_999n, 1_000_000n, { kind: "ignore", reason: "below_token_min" }],
    [0n, 1_000_000n, { kind: "ignore", reason: "below_token_min" }],
    [0n, undefined, { kind: "ignore", reason: "below_min" }],
    [1n, undefined, { kind: "pass" }],
    [0n, 0n, { kind: "ignore", reason: "below_token_min" }],
    [-1n, undefined, { kind: "ignore", reason: "below_min" }],
  ])("a balance of %s against a minimum of %s gives %j", (balance, minimum, result) => {
    expect(gateBalance(balance, minimum)).toEqual(result);
  });
});
