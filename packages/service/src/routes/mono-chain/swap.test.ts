/** The route through a pool; tests set the answers of the pool and of the attestor. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createStillClock, createStrictChain, hashOf } from "../../../test/support/doubles.ts";
import type { DepositAddress } from "../../addresses/index.ts";
import type {
  BoundedPrice,
  Effect,
  LimitedSwap,
  Receipt,
  SettleCall,
  SwapLimits,
  PoolSwapTerms,
  PoolSwapQuestion,
} from "../../chains/port/index.ts";
import type { Commitment } from "../../core/commitment.ts";
import { OperatingError } from "../../core/errors.ts";
import { NATIVE_TOKEN, toEvmAddress, toHex32 } from "../../core/hex.ts";
import { createPoolSwapRoute } from "./swap.ts";
import { swapMinimumOf } from "./swap-terms.ts";

const addressOf = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const WETH = addressOf("ee");
const USDC = addressOf("a0");
const QUOTER = addressOf("90");
const ROUTE = addressOf("cc");
const WALLET = addressOf("3a");
const RECIPIENT = addressOf("1e");
const ETHER = 10n ** 18n;
const RATE = 3_000n * 10n ** 18n;
const RATED = { rate: RATE, decimalsIn: 18, decimalsOut: 6 };
const FEE = { bps: 10, flat: 0n, bridge: 0n };
const NOW_S = 1_767_225_600n;

// CAST: only the caps are read.
const commitment = { maxFeeBps: 50, maxSlippageBps: 100 } as Commitment;
// CAST: only these are read.
const address = {
  wallet: WALLET,
  commitment,
  destWallet: RECIPIENT,
  routeSet: null,
} as DepositAddress;

function openPool() {
  const state = {
    /** Null for no pool. */
    answer: ((amountIn) => (amountIn * 2_995n) / 10n ** 12n) as (amountIn: bigint) => bigint | null,
    ownRate: RATE as bigint | null,
    attestedRate: RATE as bigint | null,
    rateInBlock: RATE as bigint | null,
    head: 10n,
    limits: { least: 0n, capLeft: 2n ** 112n } as SwapLimits,
    questions: [] as PoolSwapQuestion[],
    limited: [] as LimitedSwap[],
    orders: [] as PoolSwapTerms[],
    calls: [] as SettleCall[],
  };
  const unpriced = () => new OperatingError("PRICE_UNAVAILABLE", "No price.");
  const chain = createStrictChain({
    chainId: 2,
    async quoteSwap(question) {
      state.questions.push(question);
      return state.answer(question.amountIn);
    },
    async readSwapLimits(swap) {
      state.limited.push(swap);
      return state.limits;
    },
    encodeSwapData(order) {
      state.orders.push(order);
      return "0x5a";
    },
    buildSettle(call) {
      state.calls.push(call);
      return { to: ROUTE, data: "0x5e", value: 0n };
    },
    getHead: async () => ({
      number: state.head,
      hash: toHex32(hashOf("head")),
      parentHash: toHex32(hashOf("before")),
    }),
  });
  const route = createPoolSwapRoute({
    clock: createStillClock(Number(NOW_S) * 1000),
    chain,
    quoter: QUOTER,
    weth: WETH,
    token: NATIVE_TOKEN,
    decimalsIn: 18,
    tokenOut: USDC,
    decimalsOut: 6,
    poolFee: 500,
    maxImpactBps: 100,
    slippageBps: 50,
    contract: ROUTE,
    deliveryConfirmations: 2,
    pricing: {
      rateToleranceBps: 200,
      async readRate() {
        if (state.ownRate === null) throw unpriced();
        return state.ownRate;
      },
      async attestPrice(): Promise<BoundedPrice | null> {
        if (state.attestedRate === null) return null;
        if (state.attestedRate === 0n) throw unpriced();
        const price = { rate: state.attestedRate, maxAmount: 2n * ETHER, deadline: NOW_S + 100n };
        const bounds = { min: price.rate, max: price.rate };
        return { price, signature: "0x51", bounds };
      },
      findRateAt: async (_, { route: used }) => (used === ROUTE ? state.rateInBlock : null),
    },
  });
  return { route, state };
}

/** Returns the code of a refusal, or null without one. */
async function codeOf(asked: Promise<unknown>): Promise<string | null> {
  try {
    await asked;
    return null;
  } catch (error) {
    if (error instanceof OperatingError) return error.code;
    throw error;
  }
}

describe("a quote", () => {
  test("is the pool's output for the amount after fees, and the contract's minimum", async () => {
    const { route, state } = openPool();
    const quoted = await route.quote(ETHER, commitment, FEE);
    expect(quoted).toEqual({
      // The pool's output for the whole amount.
      fair: 2_995_000_000n,
      amountOut: 2_992_005_000n,
      // Both caps used in full.
      minOut: (2_985_000_000n * 99n) / 100n,
    });
    const amountIn = ETHER - ETHER / 1000n;
    expect(state.questions).toEqual([
      { quoter: QUOTER, tokenIn: WETH, tokenOut: USDC, poolFee: 500, amountIn },
    ]);
  });

  test("deducts gas too, up to the address's fee cap", async () => {
    const { route, state } = openPool();
    const gas = ETHER / 500n;
    await route.quote(ETHER, commitment, { ...FEE, flat: gas });
    await route.quote(ETHER, { ...commitment, maxFeeBps: 3 }, FEE);
    expect(state.questions.map(({ amountIn }) => amountIn)).toEqual([
      ETHER - ETHER / 1000n - gas,
      ETHER - (ETHER * 3n) / 10_000n,
    ]);
  });

  test("returns no minimum for dust, without querying the pool", async () => {
    const { route, state } = openPool();
    expect((await route.quote(333_333_333n, commitment, FEE)).minOut).toBe(0n);
    expect(state.questions).toEqual([]);
  });

  test("is refused without a price, without a pool, or when they disagree", async () => {
    const { route, state } = openPool();
    state.answer = () => null;
    const quoteIt = () => route.quote(ETHER, commitment, FEE);
    await expect(quoteIt()).rejects.toMatchObject({
      code: "NO_ROUTE",
      details: { reason: "no_pool" },
    });
    state.answer = () => 2_967_029_999n;
    await expect(quoteIt()).rejects.toMatchObject({ details: { reason: "pool_below_price" } });
    state.answer = () => 3_026_970_001n;
    await expect(quoteIt()).rejects.toMatchObject({ details: { reason: "pool_above_price" } });
    state.ownRate = null;
    expect(await codeOf(quoteIt())).toBe("PRICE_UNAVAILABLE");
  });
});

describe("a sweep", () => {
  test("demands the pool's answer less slippage, with a deadline of two minutes", async () => {
    const { route, state } = openPool();
    await route.prepareSweep(address, ETHER, FEE);
    expect(state.orders).toEqual([
      {
        price: { rate: RATE, maxAmount: 2n * ETHER, deadline: NOW_S + 100n },
        signature: "0x51",
        fee: { bps: 10, flat: 0n },
        minOut: (2_992_005_000n * 9_950n) / 10_000n,
        deadline: NOW_S + 120n,
      },
    ]);
    expect(state.calls).toEqual([
      {
        commitment,
        token: NATIVE_TOKEN,
        route: ROUTE,
        routeData: "0x5a",
        proof: [],
        amount: ETHER,
      },
    ]);
  });

  test("waits for the attestor's price", async () => {
    const { route, state } = openPool();
    state.attestedRate = null;
    expect(await route.prepareSweep(address, ETHER, FEE)).toBeNull();
    state.attestedRate = 0n;
    await expect(route.prepareSweep(address, ETHER, FEE)).rejects.toMatchObject({
      code: "PRICE_UNAVAILABLE",
    });
    expect(state.questions).toEqual([]);
  });

  test.each<[string, SwapLimits]>([
    ["pool_history_too_short", { least: null, capLeft: ETHER }],
    ["pool_below_average", { least: 2_992_005_001n, capLeft: ETHER }],
    ["daily_cap", { least: 0n, capLeft: 998_999_999_999_999_999n }],
  ])("is deferred when the contract would refuse it: %s [T140, T141]", async (reason, limits) => {
    const { route, state } = openPool();
    state.limits = limits;
    const refused = { code: "NO_ROUTE", retryable: true, details: { reason } };
    await expect(route.quote(ETHER, commitment, FEE)).rejects.toMatchObject(refused);
    await expect(route.prepareSweep(address, ETHER, FEE)).rejects.toMatchObject(refused);
    expect(state.orders).toEqual([]);
  });

  test("is sent at the edge of the contract's limits [T140, T141]", async () => {
    const { route, state } = openPool();
    state.limits = { least: 2_992_005_000n, capLeft: 999_000_000_000_000_000n };
    await route.prepareSweep(address, ETHER, FEE);
    expect(state.orders).toHaveLength(1);
    const amountIn = 999_000_000_000_000_000n;
    expect(state.limited).toEqual([{ route: ROUTE, token: NATIVE_TOKEN, amountIn }]);
  });

  test("takes at most the rest of the daily cap, and a part by its amount [T196]", async () => {
    const { route, state } = openPool();
    state.limits = { least: null, capLeft: ETHER / 2n };
    const of = { settlementId: "1", integratorId: "1", addressId: "1" };
    expect(await route.readCapacity(of)).toBe(ETHER / 2n);
    state.limits = { least: 0n, capLeft: ETHER / 2n };
    await route.prepareSweep(address, ETHER / 2n, FEE, { asOf: 40n });
    expect(state.calls).toMatchObject([{ amount: ETHER / 2n, asOf: 40n }]);
  });

  test("uses the attestor's price, not our own", async () => {
    const { route, state } = openPool();
    state.attestedRate = (RATE * 102n) / 100n;
    await expect(route.prepareSweep(address, ETHER, FEE)).rejects.toMatchObject({
      code: "NO_ROUTE",
      details: { reason: "pool_below_price" },
    });
    expect(state.orders).toEqual([]);
  });

  test("is never sent below the contract's minimum, for any pool answer [T69]", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt({ min: 10n ** 12n, max: 2n * ETHER }),
        fc.integer({ min: 8_000, max: 12_000 }),
        fc.integer({ min: 0, max: 500 }),
        async (amount, toldBps, maxSlippageBps) => {
          const { route, state } = openPool();
          state.answer = (amountIn) => (amountIn * 3_000n * BigInt(toldBps)) / 10n ** 16n;
          const caps = { ...commitment, maxSlippageBps };
          const code = await codeOf(
            route.prepareSweep({ ...address, commitment: caps }, amount, FEE),
          );
          const [order] = state.orders;
          expect(code).toBe(order ? null : "NO_ROUTE");
          const swapped = amount - (amount * 10n) / 10_000n;
          const answer = state.answer(swapped) ?? 0n;
          const least = swapMinimumOf(swapped, RATED, caps);
          const fair = (swapped * 3_000n) / 10n ** 12n;
          const apart = answer > fair ? answer - fair : fair - answer;
          expect(order !== undefined).toBe(answer >= least && apart * 100n <= fair);
          const slippageBps = BigInt(Math.min(50, maxSlippageBps));
          const insisted = (answer * (10_000n - slippageBps)) / 10_000n;
          expect(order?.minOut ?? insisted).toBe(insisted);
        },
      ),
    );
  });
});

describe("the receipt of a sweep", () => {
  const SETTLED = {
    kind: "settled",
    wallet: WALLET,
    token: NATIVE_TOKEN,
    route: ROUTE,
    amount: ETHER,
    logIndex: 7,
  } as const;
  const SWAPPED = {
    kind: "swapped",
    wallet: WALLET,
    to: RECIPIENT,
    tokenIn: NATIVE_TOKEN,
    tokenOut: USDC,
    amountIn: ETHER - ETHER / 1000n,
    amountOut: 2_992_000_000n,
    fee: ETHER / 1000n,
  } as const;
  const receiptOf = (...effects: Effect[]): Receipt => ({
    txHash: hashOf("swap"),
    blockHash: toHex32(hashOf("block")),
    blockNumber: 9n,
    succeeded: true,
    gasCost: 0n,
    effects,
  });

  test("gives the pool swap and the minimum at its signed price", async () => {
    const { route } = openPool();
    expect(await route.readSweep(receiptOf(SWAPPED, SETTLED), address)).toEqual({
      amount: ETHER,
      minOut: (2_997_000_000n * 99n) / 100n,
      logIndex: 7,
      deliveryId: null,
      swapFee: ETHER / 1000n,
    });
  });

  test.each<[string, Effect[]]>([
    ["of another wallet", [{ ...SWAPPED, wallet: RECIPIENT }, SETTLED]],
    ["of another token", [{ ...SWAPPED, tokenIn: USDC }, SETTLED]],
    ["into another token", [{ ...SWAPPED, tokenOut: WETH }, SETTLED]],
    ["of another amount", [{ ...SWAPPED, amountIn: ETHER }, SETTLED]],
    ["that settled nothing", [SWAPPED]],
    ["that swapped nothing", [SETTLED]],
  ])("gives no sweep for a pool swap %s", async (_, effects) => {
    const { route } = openPool();
    expect(await route.readSweep(receiptOf(...effects), address)).toBeNull();
  });

  test("is rejected when its price was never signed", async () => {
    const { route, state } = openPool();
    state.rateInBlock = null;
    const read = () => route.readSweep(receiptOf(SWAPPED, SETTLED), address);
    await expect(read()).rejects.toMatchObject({ code: "INTERNAL" });
  });

  test("is delivered when the committed wallet received at least the minimum, with enough confirmations [T70]", async () => {
    const { route, state } = openPool();
    const sweep = { amount: ETHER, minOut: 2_967_030_000n, logIndex: 7, deliveryId: null };
    const poll = (effect: Effect) =>
      route.checkDelivery({ settlementId: "s", address, sweep }, receiptOf(effect, SETTLED));
    const { txHash } = receiptOf();
    const least = { ...SWAPPED, amountOut: sweep.minOut };
    expect(await poll(least)).toEqual({ kind: "delivered", txHash, amount: sweep.minOut });
    for (const wrong of [
      { ...SWAPPED, to: WALLET },
      { ...SWAPPED, tokenOut: WETH },
      { ...SWAPPED, amountOut: sweep.minOut - 1n },
    ]) {
      expect(await poll(wrong)).toEqual({ kind: "waiting" });
    }
    state.head = 9n;
    expect(await poll(SWAPPED)).toEqual({ kind: "waiting" });
    expect(await route.checkDelivery({ settlementId: "s", address, sweep }, null)).toEqual({
      kind: "waiting",
    });
  });
});
