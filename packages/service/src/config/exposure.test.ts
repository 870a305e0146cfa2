import fc from "fast-check";
import { expect, test } from "vitest";
import { toEvmAddress } from "../core/hex.ts";
import { partsOfExposure } from "./exposure.ts";

const accountOf = (index: number) =>
  toEvmAddress(`0x${(index + 1).toString(16).padStart(40, "0")}`);

test("there is one part where all attestors must sign, and one for each where one must [T270]", () => {
  const accounts = [0, 1, 2].map(accountOf);
  const partsOf = (threshold: number, cold = 0) =>
    partsOfExposure({ threshold, accounts, cold: accounts.slice(0, cold) });
  expect([partsOf(1), partsOf(2), partsOf(3), partsOf(4)]).toEqual([3n, 2n, 1n, 1n]);
  expect([partsOf(1, 1), partsOf(2, 1)]).toEqual([2n, 1n]);
  expect(partsOfExposure({ threshold: 1, accounts: [], cold: [] })).toBe(1n);
});

test("a thief of all keys but one has at most the exposure paid, in any order of signatures [T270]", () => {
  const EXPOSURE = 1_000n;
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 6 }).chain((count) =>
        fc.record({
          count: fc.constant(count),
          threshold: fc.integer({ min: 1, max: count }),
          stolen: fc.integer({ min: 0, max: count - 1 }),
          payouts: fc.array(
            fc.record({
              worth: fc.bigInt({ min: 1n, max: EXPOSURE }),
              asked: fc.shuffledSubarray(Array.from({ length: count }, (_, index) => index)),
            }),
            { maxLength: 40 },
          ),
        }),
      ),
      ({ count, threshold, stolen, payouts }) => {
        fc.pre(stolen < threshold);
        const accounts = Array.from({ length: count }, (_, index) => accountOf(index));
        const share = EXPOSURE / partsOfExposure({ threshold, accounts, cold: [] });
        const counted = accounts.map(() => 0n);
        let paid = 0n;
        for (const { worth, asked } of payouts) {
          // The thief collects signatures first, so no attestor sees a payout of others in time.
          let signatures = stolen;
          for (const index of asked) {
            const before = counted[index] ?? 0n;
            if (index < stolen || before + worth > share) continue;
            counted[index] = before + worth;
            signatures += 1;
          }
          if (signatures >= threshold) paid += worth;
        }
        expect(paid).toBeLessThanOrEqual(EXPOSURE);
      },
    ),
    { numRuns: 2_000 },
  );
});
