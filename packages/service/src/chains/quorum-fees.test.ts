/** The fees of several nodes. */
import { describe, expect, test } from "vitest";
import { createLiar, quorumOf } from "../../test/support/quorum-doubles.ts";
import type { Fees } from "./port/index.ts";

describe("fees", () => {
  const asking = (gasPriceMax: bigint, tipMax: bigint) =>
    createLiar((answer, method) =>
      method === "suggestFees" ? ({ gasPriceMax, tipMax } satisfies Fees) : answer,
    );

  test("stay within the honest range when one node asks too much or nothing [T48]", async () => {
    for (const [wild, tip] of [
      [1_000_000n, 1_000_000n],
      [0n, 0n],
    ] as const) {
      const fees = await quorumOf([
        asking(wild, tip),
        asking(30n, 2n),
        asking(32n, 3n),
      ]).suggestFees();
      expect(fees.gasPriceMax).toBeGreaterThanOrEqual(30n);
      expect(fees.gasPriceMax).toBeLessThanOrEqual(32n);
      expect(fees.tipMax).toBeGreaterThanOrEqual(2n);
      expect(fees.tipMax).toBeLessThanOrEqual(3n);
    }
  });
});
