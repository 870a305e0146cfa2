/** Fees and rebroadcasts over hours: halts, spikes, a lane without gas, a node that forgets. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createStrictChain } from "../../test/support/doubles.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { openLaneOn } from "../../test/support/lane.ts";
import type { Fees, SendOutcome } from "../chains/port/index.ts";
import type { Hex } from "../core/hex.ts";
import { DEFAULT_LANE_LIMITS } from "./lane-deps.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query("truncate lanes, transactions, attempts, breaches cascade");
});

const BASE: Fees = { gasPriceMax: 21_000_000n, tipMax: 1_000_000n };

/** Opens a lane on a market whose fees a test sets, and keeps the price of each signature. */
function openMarket(first: Fees) {
  const lane = openLaneOn(database.db);
  const { node, signer, clock } = lane;
  const prices: bigint[] = [];
  const market = { ...first };
  let answer: SendOutcome | null = null;
  const bytes: Hex[] = [];
  const changed = {
    chain: createStrictChain({
      ...node.members,
      suggestFees: async () => ({ ...market }),
      send: async (raw: Hex) => {
        bytes.push(raw);
        return answer ?? node.members.send(raw);
      },
    }),
    signer: {
      ...signer,
      sign: async (request: Parameters<typeof signer.sign>[0]) => {
        prices.push(request.fees.gasPriceMax);
        return signer.sign(request);
      },
    },
  };
  return {
    ...lane,
    prices,
    bytes,
    setMarket: (fees: Fees) => void Object.assign(market, fees),
    answerAll: (outcome: SendOutcome | null) => {
      answer = outcome;
    },
    priceOf: (raw: Hex | undefined) =>
      BigInt(
        Buffer.from((raw ?? "0x").slice(2), "hex")
          .toString()
          .split("|")[2] ?? 0,
      ),
    async run(seconds: number, blockEvery: number | null, step = 5) {
      for (let s = 0; s < seconds; s += step) {
        clock.advance(step * 1_000);
        if (blockEvery !== null && s % blockEvery === 0) node.passBlock();
        await lane.poll(changed);
      }
    },
    pollMarket: () => lane.poll(changed),
  };
}

describe("fees", () => {
  test.each([
    ["with a base fee", BASE],
    ["without a base fee", { gasPriceMax: 100_000_000n, tipMax: 100_000_000n }],
  ])("stay while the chain makes no block, %s [T152]", async (_, first) => {
    const { prices, submit, pollMarket, run } = openMarket(first);
    await submit("sweep:a:1");
    await pollMarket();
    await run(2 * 3_600, null, 60);
    expect(prices).toEqual([first.gasPriceMax]);
  });

  test("rise to at most three times the market while blocks pass, ever more slowly [T152]", async () => {
    const { prices, submit, pollMarket, run } = openMarket(BASE);
    await submit("sweep:a:1");
    await pollMarket();
    await run(600, 5, 10);
    const first = prices.length;
    expect(first).toBeGreaterThan(3);
    await run(600, 5, 10);
    expect(prices.length - first).toBeLessThan(3);
    await run(8 * 3_600, 5, 120);
    expect(prices.at(-1)).toBeLessThanOrEqual(3n * BASE.gasPriceMax);
    expect(prices).toHaveLength(10);
  });

  test("follow a market above the offer without the growing delay", async () => {
    const { prices, submit, setMarket, pollMarket, run } = openMarket(BASE);
    await submit("sweep:a:1");
    await pollMarket();
    await run(900, 5, 15);
    setMarket({ gasPriceMax: 10n ** 12n / 4n, tipMax: 10n ** 6n });
    await run(120, 5);
    expect(prices.at(-1)).toBe(10n ** 12n / 4n);
  });

  test("follow a market that outprices a refused offer at once, of every open nonce", async () => {
    const { clock, node, prices, submit, setMarket, answerAll, pollMarket } = openMarket(BASE);
    const spike: Fees = { gasPriceMax: 100n * BASE.gasPriceMax, tipMax: BASE.tipMax };
    answerAll("underpriced");
    await submit("sweep:a:1");
    await submit("sweep:b:1", "0x02");
    await pollMarket();
    setMarket(spike);
    answerAll(null);
    clock.advance(DEFAULT_LANE_LIMITS.refusedAfterMs);
    await pollMarket();
    expect(prices.slice(2)).toEqual([spike.gasPriceMax, spike.gasPriceMax]);
    expect(node.pool.size).toBe(2);
  });

  test("follow a market that outprices an accepted offer at its next rebroadcast", async () => {
    const { clock, prices, submit, setMarket, pollMarket } = openMarket(BASE);
    await submit("sweep:a:1");
    await pollMarket();
    setMarket({ gasPriceMax: 100n * BASE.gasPriceMax, tipMax: BASE.tipMax });
    clock.advance(DEFAULT_LANE_LIMITS.resendAfterMs);
    await pollMarket();
    expect(prices).toEqual([BASE.gasPriceMax, 100n * BASE.gasPriceMax]);
    // An offer that a block can take waits.
    clock.advance(DEFAULT_LANE_LIMITS.resendAfterMs);
    await pollMarket();
    expect(prices).toHaveLength(2);
  });

  test("of the next nonce are tried every five seconds while the market is above the cap", async () => {
    const { prices, bytes, submit, setMarket, answerAll, pollMarket, run } = openMarket(BASE);
    const spike: Fees = { gasPriceMax: DEFAULT_LANE_LIMITS.gasPriceMax + 1n, tipMax: 1n };
    answerAll("underpriced");
    await submit("sweep:a:1");
    await pollMarket();
    setMarket(spike);
    await run(600, 5, 1);
    expect(prices).toHaveLength(1);
    answerAll(null);
    bytes.length = 0;
    await run(5, 5, 1);
    expect(bytes.length).toBeGreaterThan(0);
  });

  test("stay after the node said that the lane cannot pay [T152]", async () => {
    const { prices, submit, answerAll, pollMarket, run } = openMarket(BASE);
    answerAll("insufficient_funds");
    await submit("sweep:a:1");
    await pollMarket();
    await run(3_600, 5, 30);
    expect(prices).toEqual([BASE.gasPriceMax]);
  });
});

describe("rebroadcasts", () => {
  test("offer the cheapest sufficient attempt after the market fell [T152]", async () => {
    const { node, bytes, priceOf, submit, setMarket, pollMarket, run } = openMarket(BASE);
    await submit("sweep:a:1");
    await pollMarket();
    setMarket({ gasPriceMax: 400_000_000n, tipMax: 1_000_000n });
    await run(60, 5);
    expect(priceOf(bytes.at(-1))).toBe(400_000_000n);
    // The market falls, and the node forgets the expensive bytes.
    setMarket(BASE);
    node.forgetPool();
    bytes.length = 0;
    await run(60, 5);
    expect(priceOf(bytes[0])).toBe(BASE.gasPriceMax);
    expect([...node.pool.values()].map(({ raw }) => priceOf(raw as Hex))).toEqual([
      BASE.gasPriceMax,
    ]);
  });

  test("of a lane without gas are few, and only of its lowest nonce [T152]", async () => {
    const { bytes, submit, answerAll, pollMarket, run } = openMarket(BASE);
    answerAll("insufficient_funds");
    for (let i = 0; i < 16; i++) await submit(`deliver:${i}:1`, `0x${(i + 10).toString(16)}`);
    await pollMarket();
    await run(10, null, 0.25);
    expect(bytes.length).toBeLessThan(8);
    expect(new Set(bytes).size).toBe(1);
    answerAll(null);
    await run(70, null);
    expect(new Set(bytes).size).toBe(16);
  });

  test("of accepted transactions come after 10, 20, 40 and then every 60 seconds", async () => {
    const { clock, bytes, submit, pollMarket } = openMarket(BASE);
    await submit("deliver:1:1");
    await pollMarket();
    const startMs = clock.now();
    const at: number[] = [];
    for (let s = 1; s <= 250; s++) {
      clock.advance(1_000);
      const before = bytes.length;
      await pollMarket();
      if (bytes.length > before) at.push((clock.now() - startMs) / 1_000);
    }
    expect(at).toEqual([10, 30, 70, 130, 190, 250]);
  });

  test("of unanswered sends begin after half a second", async () => {
    const { clock, bytes, submit, answerAll, pollMarket } = openMarket(BASE);
    answerAll("unknown");
    await submit("deliver:1:1");
    await pollMarket();
    await pollMarket();
    expect(bytes).toHaveLength(1);
    clock.advance(DEFAULT_LANE_LIMITS.refusedAfterMs);
    await pollMarket();
    expect(bytes).toHaveLength(2);
  });
});

describe("a gas price above the cap", () => {
  test("is read again every five seconds", async () => {
    const { clock, lines, submit, setMarket, pollMarket, prices } = openMarket(BASE);
    setMarket({ gasPriceMax: DEFAULT_LANE_LIMITS.gasPriceMax + 1n, tipMax: 1n });
    await submit("deliver:1:1");
    for (let i = 0; i < 20; i++) {
      await pollMarket();
      clock.advance(250);
    }
    expect(lines.filter(({ msg }) => msg === "gas price above cap, waiting")).toHaveLength(1);
    setMarket(BASE);
    await pollMarket();
    expect(prices).toEqual([BASE.gasPriceMax]);
  });
});
