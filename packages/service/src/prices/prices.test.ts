/** T56 A price is fresh, sane and agreed on, or there is none. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createStillClock, createStrictChain } from "../../test/support/doubles.ts";
import { toEvmAddress } from "../core/hex.ts";
import type { HttpAnswer } from "../core/ports.ts";
import type { PriceConfig } from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import { combineAnswers, PRICE_SCALE, rateBetween, type SourceAnswer } from "./price.ts";
import { createPrices, type PriceReport } from "./prices.ts";

const NOW = 1_000_000_000_000;
const DEVIATION_BPS = 100;
const AGE_MS = 60_000;
const at = (usd: bigint, ageMs = 0, maxAgeMs = AGE_MS) => ({
  usd,
  published: { atMs: NOW - ageMs, maxAgeMs },
});
const AWAY = { fault: "no_answer", detail: "timed_out" } as const;
/** The price, or the reason why there is none. */
const combine = (...answers: SourceAnswer[]) => {
  const combined = combineAnswers(answers, DEVIATION_BPS, NOW);
  return combined.kind === "price" ? combined.usd : combined.reason;
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
    ["sources_disagree", [at(1000n), at(1_000_000n)]],
    ["sources_disagree", [at(1000n), at(1000n), at(1_000_000n)]],
    ["no_answer", [AWAY]],
    ["no_answer", [at(1000n), AWAY]],
    ["no_answer", [at(1000n), at(1000n), AWAY, AWAY]],
    ["bad_answer", [{ fault: "bad_answer", detail: "not JSON" }, at(1000n)]],
  ] as const)("%# is refused: %s", (reason, answers) => {
    expect(combine(...answers)).toBe(reason);
  });

  test("leaves out what is too old or absurd, as long as more than half are left", () => {
    expect(combine(at(1000n), at(1001n), at(5n, 60_001))).toBe(1000n);
    expect(combine(at(1000n), at(1001n), at(0n))).toBe(1000n);
    expect(combine(at(1000n), AWAY, at(1001n))).toBe(1000n);
    const [three, five] = [at(1000n, 60_001), at(1n, 60_001)];
    expect(combine(at(1000n), at(1001n), three, five)).toBe("too_old");
  });

  test("lets each source have its own age", () => {
    const daily = 90_000_000;
    expect(combine(at(1000n), at(1001n, daily - 1, daily))).toBe(1000n);
    expect(combine(at(1000n), at(1001n, daily + 1, daily))).toBe("too_old");
    expect(combine(at(1000n, 60_001), at(1001n, daily, daily))).toBe("too_old");
  });

  test("takes points up to the bounds, and fixed prices of any age", () => {
    expect(combine(at(1000n, 60_000))).toBe(1000n);
    expect(combine(at(1000n, -60_000))).toBe(1000n);
    expect(combine(at(1000n), at(1010n))).toBe(1000n);
    expect(combine({ usd: 5n, published: null })).toBe(5n);
  });

  test("one wrong source among honest ones never moves it past them", () => {
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

  test("come from feeds, HTTP APIs and the configuration, which must agree", async () => {
    const { prices, state } = open({ fixed: 1005n, feeds: [feed], http: [api] });
    expect(await prices.readUsd(token)).toBe(1004n);
    state.usd = 1100n;
    await expect(prices.readUsd(token)).rejects.toMatchObject(refusal("sources_disagree"));
  });

  test("run out with their feed", async () => {
    const { prices, clock } = open({ feeds: [feed] });
    expect(await prices.readUsd(token)).toBe(1000n);
    clock.advance(60_001);
    await expect(prices.readUsd(token)).rejects.toMatchObject(refusal("too_old"));
  });

  test("of three sources do without one, of two without none", async () => {
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

  test("a mistake of our own is no source that is away", async () => {
    const { prices, state } = open({ fixed: 1005n, feeds: [feed], http: [api] });
    state.fails = new TypeError("a bug");
    await expect(prices.readUsd(token)).rejects.toThrow(state.fails);
  });

  test("are refused where there is no source, and where a rate would be nothing", async () => {
    await expect(open(undefined).prices.readUsd(token)).rejects.toMatchObject(refusal("no_source"));
    await expect(open({}).prices.readRate(token, token)).rejects.toMatchObject(
      refusal("no_source"),
    );
    // A rate of a billionth of a billionth and less is nothing.
    const dear = { chainId: 2, token: toEvmAddress(`0x${"a1".repeat(20)}`) };
    const usdOf = (priced: typeof token) => (priced === dear ? 10n ** 22n : 1000n);
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
    await expect(prices.readRate(token, dear)).rejects.toMatchObject(refusal("out_of_range"));
    expect(await prices.readRate(dear, token)).toBe(10n ** 37n);
  });
});
