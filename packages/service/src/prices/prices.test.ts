/** A price is fresh, in range and agreed on, or unavailable [T56]. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createStillClock, createStrictChain } from "../../test/support/doubles.ts";
import { toEvmAddress } from "../core/hex.ts";
import type { HttpAnswer } from "../core/ports.ts";
import type { PriceConfig } from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import { combineAnswers, PRICE_SCALE, rateBetween, type SourceAnswer } from "./price.ts";
import { createPrices, type PricedToken, type PriceReport } from "./prices.ts";

const NOW = 1_000_000_000_000;
const DEVIATION_BPS = 100;
const AGE_MS = 60_000;
const at = (usd: bigint, ageMs = 0, maxAgeMs = AGE_MS) => ({
  usd,
  published: { atMs: NOW - ageMs, maxAgeMs },
});
const AWAY = { fault: "no_answer", detail: "timed_out" } as const;
/** Returns the combined price, or the reason why it is unavailable. */
const combine = (...answers: SourceAnswer[]) => {
  const combined = combineAnswers(answers, DEVIATION_BPS, NOW);
  return combined.kind === "price" ? combined.usd : combined.reason;
};

describe("combined prices", () => {
  test("are the median, or the lower of the middle two", () => {
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
    ["sources_disagree", [at(1000n), at(1_000_000n)]],
    ["sources_disagree", [at(1000n), at(1000n), at(1_000_000n)]],
    ["no_answer", [AWAY]],
    ["no_answer", [at(1000n), AWAY]],
    ["no_answer", [at(1000n), at(1000n), AWAY, AWAY]],
    ["bad_answer", [{ fault: "bad_answer", detail: "not JSON" }, at(1000n)]],
  ] as const)("are unavailable (%#): %s", (reason, answers) => {
    expect(combine(...answers)).toBe(reason);
  });

  test("leave out faulty sources while more than half remain", () => {
    expect(combine(at(1000n), at(1001n), at(5n, 60_001))).toBe(1000n);
    expect(combine(at(1000n), at(1001n), at(0n))).toBe(1000n);
    expect(combine(at(1000n), AWAY, at(1001n))).toBe(1000n);
    const [three, five] = [at(1000n, 60_001), at(1n, 60_001)];
    expect(combine(at(1000n), at(1001n), three, five)).toBe("too_old");
  });

  test("apply the maximum age of each source", () => {
    const daily = 90_000_000;
    expect(combine(at(1000n), at(1001n, daily - 1, daily))).toBe(1000n);
    expect(combine(at(1000n), at(1001n, daily + 1, daily))).toBe("too_old");
    expect(combine(at(1000n, 60_001), at(1001n, daily, daily))).toBe("too_old");
  });

  test("accept prices at the bounds and fixed prices of any age", () => {
    expect(combine(at(1000n, 60_000))).toBe(1000n);
    expect(combine(at(1000n, -60_000))).toBe(1000n);
    expect(combine(at(1000n), at(1010n))).toBe(1000n);
    expect(combine({ usd: 5n, published: null })).toBe(5n);
  });

  test("stay within the honest sources when one source is wrong", () => {
    const points = fc.array(fc.bigInt({ min: 1_000_000n, max: 1_001_000n }), { minLength: 2 });
    fc.assert(
      fc.property(points, fc.bigInt({ min: -10n, max: 10n ** 34n }), (honest, wrong) => {
        const all = [...honest, wrong].map((usd) => at(usd));
        const price = combine(...all);
        if (typeof price === "string") return;
        const sorted = honest.toSorted((a, b) => (a < b ? -1 : 1));
        expect(price >= (sorted[0] ?? 0n) && price <= (sorted.at(-1) ?? 0n)).toBe(true);
      }),
    );
  });
});

describe("rates", () => {
  test("are whole tokens out per whole token in, rounded down", () => {
    expect(rateBetween(PRICE_SCALE, 3000n * PRICE_SCALE)).toBe(333_333_333_333_333n);
    expect(rateBetween(3000n * PRICE_SCALE, PRICE_SCALE)).toBe(3000n * PRICE_SCALE);
  });

  test("never gain in a round trip", () => {
    const usd = fc.bigInt({ min: 1n, max: 10n ** 33n });
    fc.assert(
      fc.property(usd, usd, (one, other) => {
        const product = rateBetween(one, other) * rateBetween(other, one);
        expect(product <= PRICE_SCALE * PRICE_SCALE).toBe(true);
      }),
    );
  });
});

describe("token prices", () => {
  const token = { chainId: 2, token: toEvmAddress(`0x${"a0".repeat(20)}`) };
  const feed = { address: toEvmAddress(`0x${"fe".repeat(20)}`), maxAgeMs: AGE_MS };
  const api = {
    url: "https://prices.example/usd",
    headers: new Map(),
    pointer: ["usd"],
    timestampPointer: undefined,
    scale: 18,
    maxAgeMs: AGE_MS,
  };
  function open(given: Partial<PriceConfig> | undefined) {
    const clock = createStillClock(NOW);
    const state = {
      usd: 1000n,
      publishedAtMs: NOW,
      fails: null as Error | null,
      http: { kind: "answered", status: 200, body: '{"usd":1004}' } as HttpAnswer,
    };
    const readPriceFeed = async () => {
      if (state.fails) throw state.fails;
      const { usd, publishedAtMs } = state;
      return { usd, publishedAtMs };
    };
    const reports: PriceReport[] = [];
    const prices = createPrices({
      chains: new Map([[2, createStrictChain({ readPriceFeed })]]),
      http: async () => state.http,
      clock,
      sourcesOf: () =>
        given && {
          fixed: undefined,
          feeds: [],
          http: [],
          maxDeviationBps: DEVIATION_BPS,
          ...given,
        },
      onReport: (_, report) => reports.push(report),
    });
    return { prices, state, clock, reports };
  }
  const refusal = (reason: string) => ({ code: "PRICE_UNAVAILABLE", details: { reason } });

  test("combine feeds, HTTP APIs and fixed values, which must agree", async () => {
    const { prices, state } = open({ fixed: 1005n, feeds: [feed], http: [api] });
    expect(await prices.readUsd(token)).toBe(1004n);
    state.usd = 1100n;
    await expect(prices.readUsd(token)).rejects.toMatchObject(refusal("sources_disagree"));
  });

  test("are unavailable when their feed is too old", async () => {
    const { prices, clock } = open({ feeds: [feed] });
    expect(await prices.readUsd(token)).toBe(1000n);
    clock.advance(60_001);
    await expect(prices.readUsd(token)).rejects.toMatchObject(refusal("too_old"));
  });

  test("need two of three sources, and both of two", async () => {
    const { prices, state, reports } = open({ fixed: 1005n, feeds: [feed], http: [api] });
    state.fails = new OperatingError("RPC_UNAVAILABLE", "The node does not answer.");
    expect(await prices.readUsd(token)).toBe(1004n);
    expect(reports).toEqual([
      {
        result: { kind: "price", usd: 1004n },
        sources: [
          { source: "feeds[0]", fault: "no_answer", detail: "RPC_UNAVAILABLE" },
          { source: "http[0]", fault: null, detail: null },
          { source: "static", fault: null, detail: null },
        ],
      },
    ]);
    const two = open({ feeds: [feed], http: [api] });
    expect(await two.prices.readUsd(token)).toBe(1000n);
    two.state.fails = state.fails;
    await expect(two.prices.readUsd(token)).rejects.toMatchObject(refusal("no_answer"));
  });

  test("rethrow a bug in a source", async () => {
    const { prices, state } = open({ fixed: 1005n, feeds: [feed], http: [api] });
    state.fails = new TypeError("a bug");
    await expect(prices.readUsd(token)).rejects.toThrow(state.fails);
  });

  test("are unavailable without a source, and when the rate rounds to zero", async () => {
    await expect(open(undefined).prices.readUsd(token)).rejects.toMatchObject(refusal("no_source"));
    await expect(open({}).prices.readRate(token, token)).rejects.toMatchObject(
      refusal("no_source"),
    );
    // A rate below 1e-18 rounds to zero.
    const expensive = { chainId: 2, token: toEvmAddress(`0x${"a1".repeat(20)}`) };
    const usdOf = (priced: PricedToken) => (priced === expensive ? 10n ** 22n : 1000n);
    const prices = createPrices({
      chains: new Map([[2, createStrictChain({})]]),
      http: () => Promise.reject(new Error("nothing is asked")),
      clock: createStillClock(NOW),
      sourcesOf: (priced) => ({
        fixed: usdOf(priced),
        feeds: [],
        http: [],
        maxDeviationBps: 0,
      }),
    });
    await expect(prices.readRate(token, expensive)).rejects.toMatchObject(refusal("out_of_range"));
    expect(await prices.readRate(expensive, token)).toBe(10n ** 37n);
  });
});
