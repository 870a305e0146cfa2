/** T56 A price is fresh, sane and agreed on, or there is none. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createStillClock, createStrictChain } from "../../test/support/doubles.ts";
import { toEvmAddress } from "../core/hex.ts";
import { combinePoints, PRICE_SCALE, rateBetween } from "./price.ts";
import { createPrices, type PriceSources } from "./prices.ts";

const NOW = 1_000_000_000_000;
const BOUNDS = { maxAgeMs: 60_000, maxDeviationBps: 100 };
const at = (usd: bigint, ageMs = 0) => ({ usd, publishedAtMs: NOW - ageMs });
const combine = (...points: Parameters<typeof combinePoints>[0]) =>
  combinePoints(points, BOUNDS, NOW);
const reasonOf = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return error instanceof Error && "details" in error ? error.details : error;
  }
};

describe("one price out of several", () => {
  test("is the median, of an even number the lower of the middle two", () => {
    expect(combine(at(1000n))).toBe(1000n);
    expect(combine(at(1001n), at(1000n))).toBe(1000n);
    expect(combine(at(1002n), at(1000n), at(1001n))).toBe(1001n);
  });

  test.each([
    ["no_source", []],
    ["too_old", [at(1000n, 60_001)]],
    ["too_old", [at(1000n), at(1000n, 60_001)]],
    ["from_the_future", [at(1000n, -60_001)]],
    ["out_of_range", [at(0n)]],
    ["out_of_range", [at(-1n)]],
    ["out_of_range", [at(10n ** 15n * PRICE_SCALE + 1n)]],
    ["sources_disagree", [at(1000n), at(1011n)]],
  ] as const)("is refused: %s", (reason, points) => {
    expect(reasonOf(() => combine(...points))).toEqual({ reason });
  });

  test("leaves out what is too old or absurd, as long as more than half are left", () => {
    expect(combine(at(1000n), at(1001n), at(5n, 60_001))).toBe(1000n);
    expect(combine(at(1000n), at(1001n), at(0n))).toBe(1000n);
    const [three, five] = [at(1000n, 60_001), at(1n, 60_001)];
    expect(reasonOf(() => combine(at(1000n), at(1001n), three, five))).toEqual({
      reason: "too_old",
    });
  });

  test("takes points up to the bounds, and fixed prices of any age", () => {
    expect(combine(at(1000n, 60_000))).toBe(1000n);
    expect(combine(at(1000n, -60_000))).toBe(1000n);
    expect(combine(at(1000n), at(1010n))).toBe(1000n);
    expect(combine({ usd: 5n, publishedAtMs: null })).toBe(5n);
  });

  test("one wrong source among honest ones never moves it past them", () => {
    const points = fc.array(fc.bigInt({ min: 1_000_000n, max: 1_001_000n }), { minLength: 2 });
    fc.assert(
      fc.property(points, fc.bigInt({ min: -10n, max: 10n ** 34n }), (honest, wrong) => {
        const all = [...honest, wrong].map((usd) => at(usd));
        let price: bigint;
        try {
          price = combine(...all);
        } catch {
          return;
        }
        const sorted = honest.toSorted((a, b) => (a < b ? -1 : 1));
        expect(price >= (sorted[0] ?? 0n) && price <= (sorted.at(-1) ?? 0n)).toBe(true);
      }),
    );
  });
});

describe("rates", () => {
  test("are whole units out per whole unit in, rounded down", () => {
    expect(rateBetween(PRICE_SCALE, 3000n * PRICE_SCALE)).toBe(333_333_333_333_333n);
    expect(rateBetween(3000n * PRICE_SCALE, PRICE_SCALE)).toBe(3000n * PRICE_SCALE);
  });

  test("there and back never gains", () => {
    const usd = fc.bigInt({ min: 1n, max: 10n ** 33n });
    fc.assert(
      fc.property(usd, usd, (one, other) => {
        const product = rateBetween(one, other) * rateBetween(other, one);
        expect(product <= PRICE_SCALE * PRICE_SCALE).toBe(true);
      }),
    );
  });
});

describe("prices of tokens", () => {
  const token = { chainId: 2, token: toEvmAddress(`0x${"a0".repeat(20)}`) };
  const feed = toEvmAddress(`0x${"fe".repeat(20)}`);
  function open(sources: PriceSources | undefined) {
    const clock = createStillClock(NOW);
    const state = { usd: 1000n, publishedAtMs: NOW };
    const chain = createStrictChain({ readPriceFeed: async () => ({ ...state }) });
    const prices = createPrices({ chains: new Map([[2, chain]]), clock, sourcesOf: () => sources });
    return { prices, state, clock };
  }

  test("come from feeds and from the configuration, which must agree", async () => {
    const { prices, state } = open({ fixed: 1005n, feeds: [feed], bounds: BOUNDS });
    expect(await prices.readUsd(token)).toBe(1000n);
    state.usd = 1100n;
    await expect(prices.readUsd(token)).rejects.toMatchObject({
      code: "PRICE_UNAVAILABLE",
      details: { reason: "sources_disagree" },
    });
  });

  test("run out with their feed", async () => {
    const { prices, clock } = open({ fixed: undefined, feeds: [feed], bounds: BOUNDS });
    expect(await prices.readUsd(token)).toBe(1000n);
    clock.advance(60_001);
    await expect(prices.readUsd(token)).rejects.toMatchObject({ details: { reason: "too_old" } });
  });

  test("are refused where there is no source, and where a rate would be nothing", async () => {
    await expect(open(undefined).prices.readUsd(token)).rejects.toMatchObject({
      details: { reason: "no_source" },
    });
    const { prices } = open({ fixed: undefined, feeds: [], bounds: BOUNDS });
    await expect(prices.readRate(token, token)).rejects.toMatchObject({
      code: "PRICE_UNAVAILABLE",
    });
  });
});
