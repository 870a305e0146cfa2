/** The route through a pool and the bridge; tests set the answers of the pool, of Circle and of the attestor. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createStillClock, createStrictChain, hashOf } from "../../../test/support/doubles.ts";
import type { DepositAddress } from "../../addresses/index.ts";
import type {
  CctpBridge,
  Effect,
  Receipt,
  SettleCall,
  PoolSwapBurnTerms,
  PoolSwapQuestion,
} from "../../chains/port/index.ts";
import type { Caps } from "../../core/amounts.ts";
import type { Commitment } from "../../core/commitment.ts";
import { OperatingError } from "../../core/errors.ts";
import { NATIVE_TOKEN, padAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
import { feeCapOf, planTerms } from "../../fees/index.ts";
import { systemRandom } from "../../roles/system-ports.ts";
import { swapMinimumOf } from "../mono-chain/swap-terms.ts";
import { SHARE_SCALE } from "./bridge-attestations.ts";
import { type BurnMessage, encodeBurnMessage, FINALITY, ZERO_WORD } from "./message.ts";
import { createSwapMctpRoute } from "./swap.ts";

const addressOf = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const WETH = addressOf("ee");
const USDC = addressOf("a0");
const USDC_THERE = addressOf("b0");
const QUOTER = addressOf("90");
const ROUTE = addressOf("cc");
const WALLET = addressOf("3a");
const RECIPIENT = addressOf("1e");
const HERE = { domain: 0, messenger: addressOf("31"), transmitter: addressOf("71") };
const THERE = { domain: 6, messenger: addressOf("32"), transmitter: addressOf("72") };
const ETHER = 10n ** 18n;
const RATE = 3_000n * 10n ** 18n;
const NOW_S = 1_767_225_600n;

const DEST_WALLET = padAddress(RECIPIENT);
// CAST: only these are read.
const commitment = { maxFeeBps: 50, maxSlippageBps: 100, destWallet: DEST_WALLET } as Commitment;
// CAST: only these are read.
const address = {
  wallet: WALLET,
  commitment,
  destWallet: RECIPIENT,
  routeSet: null,
} as DepositAddress;

function openRoute() {
  const state = {
    /** The pool's output for one whole coin, in base units. */
    poolPrice: 2_995_000_000n,
    rate: RATE,
    rateInBlock: RATE as bigint | null,
    isPriced: true,
    fast: ((13n * SHARE_SCALE) / 100_000n) as bigint | null,
    standard: 0n as bigint | null,
    allowance: 10n ** 15n,
    burnLimit: 10n ** 13n,
    capLeft: 2n ** 112n,
    questions: [] as PoolSwapQuestion[],
    orders: [] as PoolSwapBurnTerms[],
    calls: [] as SettleCall[],
  };
  const bridgeOf = (contracts: CctpBridge["contracts"]): CctpBridge => ({
    contracts,
    buildReceive: () => {
      throw new Error("a route hands nothing in");
    },
    encodeBurnData: () => {
      throw new Error("what is burned was swapped");
    },
    encodeSwapBurnData(order) {
      state.orders.push(order);
      return "0x5a";
    },
    readBurnLimit: async (token) => (token === USDC ? state.burnLimit : 0n),
    readContractHeight: () => Promise.reject(new Error("only the relay reads it")),
    findMint: () => Promise.reject(new Error("a route looks for no mint")),
  });
  const source = createStrictChain({
    chainId: 2,
    cctp: bridgeOf(HERE),
    async quoteSwap(question) {
      state.questions.push(question);
      return (question.amountIn * state.poolPrice) / ETHER;
    },
    readSwapLimits: async () => ({ least: 0n, capLeft: state.capLeft }),
    buildSettle(call) {
      state.calls.push(call);
      return { to: ROUTE, data: "0x5e", value: 0n };
    },
  });
  const route = createSwapMctpRoute({
    // CAST: never read or written in these tests.
    db: null as never,
    clock: createStillClock(Number(NOW_S) * 1000),
    random: systemRandom,
    source,
    destination: createStrictChain({ chainId: 30, cctp: bridgeOf(THERE) }),
    attestations: {
      getMessages: () => Promise.reject(new Error("nothing is attested")),
      reattest: () => Promise.reject(new Error("nothing is attested")),
      getFees: async () => ({ fast: state.fast, standard: state.standard }),
      getFastAllowance: async () => state.allowance,
    },
    quoter: QUOTER,
    weth: WETH,
    token: NATIVE_TOKEN,
    decimalsIn: 18,
    tokenOut: USDC,
    decimalsOut: 6,
    destToken: USDC_THERE,
    poolFee: 500,
    maxImpactBps: 100,
    slippageBps: 50,
    contract: ROUTE,
    pricing: {
      readRate: async () => state.rate,
      rateToleranceBps: 200,
      attestPrice: async () =>
        state.isPriced
          ? {
              price: { rate: state.rate, maxAmount: 2n * ETHER, deadline: NOW_S + 100n },
              signature: "0x51",
              bounds: { min: state.rate, max: state.rate },
            }
          : null,
      findRateAt: async (_, { route: used }) => (used === ROUTE ? state.rateInBlock : null),
    },
  });
  const planFee = async (
    amount: bigint,
    { maxFeeBps, gas = 0n }: { maxFeeBps: number; gas?: bigint },
  ) => {
    const room = feeCapOf(amount, maxFeeBps) - gas;
    const bridge = await route.readBridgeFee(amount, room);
    return planTerms({ amount, maxFeeBps, serviceBps: 10, gas, bridge });
  };
  return { route, state, planFee };
}

/** Returns the code and reason of a refusal, or null without one. */
async function refusalOf(asked: Promise<unknown>): Promise<readonly unknown[] | null> {
  try {
    await asked;
    return null;
  } catch (error) {
    if (error instanceof OperatingError) return [error.code, error.details?.["reason"]];
    throw error;
  }
}

describe("a quote", () => {
  test("is the pool's output for the amount after fees, less the bridge's fee", async () => {
    const { route, planFee, state } = openRoute();
    const fee = await planFee(ETHER, commitment);
    const quoted = await route.quote(ETHER, commitment, fee);
    const answer = 2_992_005_000n;
    expect(quoted).toEqual({
      fair: 2_995_000_000n,
      // 1.3 basis points, rounded up.
      amountOut: answer - 388_961n,
      // Both caps used in full, and one unit for rounding.
      minOut: (2_985_000_000n * 99n) / 100n - 1n,
      etaSeconds: 60,
    });
    const amountIn = ETHER - ETHER / 1000n;
    expect(state.questions).toEqual([
      { quoter: QUOTER, tokenIn: WETH, tokenOut: USDC, poolFee: 500, amountIn },
    ]);
  });

  test("plans the bridge's maximum fee in the deposited token, at our own rate and with a margin", async () => {
    const { planFee } = openRoute();
    const { bridge } = await planFee(ETHER, commitment);
    // 1.3 basis points of 3,000 dollars plus a fifth, as a fraction of a coin.
    expect(bridge).toBe((468_000n * ETHER) / 3_000_000_000n);
  });

  test("uses the standard way and its duration when fast exceeds the cap or the allowance", async () => {
    for (const change of [{ allowance: 1n }, { fast: SHARE_SCALE / 100n }]) {
      const { route, planFee, state } = openRoute();
      Object.assign(state, change);
      const quoted = await route.quote(ETHER, commitment, await planFee(ETHER, commitment));
      expect(quoted).toMatchObject({ amountOut: 2_992_005_000n, etaSeconds: 1_200 });
    }
  });

  test("is refused when the pool deviates from the price", async () => {
    const { route, planFee, state } = openRoute();
    const fee = await planFee(ETHER, commitment);
    state.poolPrice = 2_960_000_000n;
    expect(await refusalOf(route.quote(ETHER, commitment, fee))).toEqual([
      "NO_ROUTE",
      "pool_below_price",
    ]);
    state.poolPrice = 3_031_000_000n;
    expect(await refusalOf(route.quote(ETHER, commitment, fee))).toEqual([
      "NO_ROUTE",
      "pool_above_price",
    ]);
  });
});

describe("a sweep", () => {
  test("demands the pool's answer less slippage, and allows the planned bridge fee at that price", async () => {
    const { route, planFee, state } = openRoute();
    const fee = await planFee(ETHER, commitment);
    expect(await route.prepareSweep(address, ETHER, fee)).not.toBeNull();
    const minOut = (2_992_005_000n * 9_950n) / 10_000n;
    expect(state.orders).toEqual([
      {
        price: { rate: RATE, maxAmount: 2n * ETHER, deadline: NOW_S + 100n },
        signature: "0x51",
        fee: { bps: 10, flat: 0n },
        minOut,
        deadline: NOW_S + 120n,
        maxFee: (fee.bridge * minOut) / (ETHER - ETHER / 1000n),
        minFinalityThreshold: FINALITY.FAST,
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

  test("waits until a price is signed", async () => {
    const { route, planFee, state } = openRoute();
    const fee = await planFee(ETHER, commitment);
    state.isPriced = false;
    expect(await route.prepareSweep(address, ETHER, fee)).toBeNull();
  });

  test("never requests a bridge fee above the limit of SwapCctpRoute, for any pool output", async () => {
    const { route, planFee, state } = openRoute();
    let planned = 0;
    const caps = fc.record({
      maxFeeBps: fc.integer({ min: 0, max: 300 }),
      maxSlippageBps: fc.integer({ min: 0, max: 300 }),
    });
    const amounts = fc.bigInt({ min: 10n ** 12n, max: 10n ** 22n });
    const percents = fc.bigInt({ min: 0n, max: 100n });
    await fc.assert(
      fc.asyncProperty(amounts, caps, percents, percents, async (amount, given, gas, moved) => {
        const { maxFeeBps, maxSlippageBps } = given;
        state.orders = [];
        // CAST: only the caps are read.
        const of = { ...address, commitment: given as Commitment };
        const gasOf = (feeCapOf(amount, maxFeeBps) * gas) / 100n;
        const refused = await refusalOf(
          (async () =>
            route.prepareSweep(of, amount, await planFee(amount, { maxFeeBps, gas: gasOf })))(),
        );
        const [order] = state.orders;
        if (refused || !order) return;
        planned += 1;
        // The contract's result for any pool output that it accepts.
        const { fee, minOut, maxFee } = order;
        const charged = (amount * BigInt(fee.bps)) / 10_000n + fee.flat;
        const amountIn = amount - charged;
        const insisted = swapMinimumOf(
          amountIn,
          { rate: RATE, decimalsIn: 18, decimalsOut: 6 },
          { maxSlippageBps },
        );
        const least = minOut > insisted ? minOut : insisted;
        const amountOut = least + (least * moved) / 10_000n;
        const cap = (amount * BigInt(maxFeeBps)) / 10_000n;
        expect(charged).toBeLessThanOrEqual(cap);
        expect(maxFee).toBeLessThanOrEqual(((cap - charged) * amountOut) / amountIn);
        // The amount after the fee is never below the quoted minimum.
        // No minimum was quoted where the pool's price is fair for a part of the amount but not for all of it.
        const unpriced = await planFee(amount, given);
        if (await refusalOf(route.quote(amount, given, unpriced))) return;
        const { minOut: quoted } = await route.quote(amount, given, unpriced);
        expect(amountOut - maxFee).toBeGreaterThanOrEqual(quoted);
      }),
      { numRuns: 500 },
    );
    expect(planned).toBeGreaterThan(100);
  });

  test("leaves at least the quoted minimum for all fees within the caps", () => {
    const left = (amount: bigint, { maxFeeBps }: Pick<Caps, "maxFeeBps">) => {
      const cap = (amount * BigInt(maxFeeBps)) / 10_000n;
      return amount - (cap < amount - 1n ? cap : amount - 1n);
    };
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 10n ** 24n }),
        fc.bigInt({ min: 1n, max: 10n ** 24n }),
        fc.integer({ min: 0, max: 10_000 }),
        fc.integer({ min: 0, max: 10_000 }),
        fc.bigInt({ min: 0n, max: 10_000n }),
        (amount, rate, maxFeeBps, maxSlippageBps, part) => {
          const rated = { rate, decimalsIn: 18, decimalsOut: 6 };
          const worst = left(amount, { maxFeeBps });
          const cap = amount - worst;
          const charged = (cap * part) / 10_000n;
          const amountIn = amount - charged;
          const amountOut = swapMinimumOf(amountIn, rated, { maxSlippageBps });
          // The contract refuses to swap for nothing.
          if (amountOut === 0n) return;
          const maxFee = ((cap - charged) * amountOut) / amountIn;
          const least = swapMinimumOf(worst, rated, { maxSlippageBps });
          expect(amountOut - maxFee).toBeGreaterThanOrEqual(least - 1n);
        },
      ),
      { numRuns: 3_000 },
    );
  });
});

describe("the receipt of a sweep", () => {
  const CHARGED = ETHER / 1000n;
  const AMOUNT_IN = ETHER - CHARGED;
  const BURNED = 2_990_000_000n;
  const MAX_FEE = 400_000n;

  const sent: BurnMessage = {
    version: 1,
    sourceDomain: HERE.domain,
    destinationDomain: THERE.domain,
    nonce: ZERO_WORD,
    sender: padAddress(HERE.messenger),
    recipient: padAddress(THERE.messenger),
    destinationCaller: ZERO_WORD,
    minFinalityThreshold: FINALITY.FAST,
    finalityThresholdExecuted: 0,
    bodyVersion: 1,
    burnToken: padAddress(USDC),
    mintRecipient: DEST_WALLET,
    amount: BURNED,
    messageSender: padAddress(ROUTE),
    maxFee: MAX_FEE,
    feeExecuted: 0n,
    expirationBlock: 0n,
    hookData: padAddress(WALLET),
  };
  const swapped: Effect = {
    kind: "swapped",
    wallet: WALLET,
    to: ROUTE,
    tokenIn: NATIVE_TOKEN,
    tokenOut: USDC,
    amountIn: AMOUNT_IN,
    amountOut: BURNED,
    fee: CHARGED,
  };
  const burned: Effect = {
    kind: "burned",
    wallet: WALLET,
    token: USDC,
    amount: BURNED,
    fee: 0n,
    maxFee: MAX_FEE,
    destDomain: THERE.domain,
    recipient: DEST_WALLET,
  };
  const settled: Effect = {
    kind: "settled",
    wallet: WALLET,
    token: NATIVE_TOKEN,
    route: ROUTE,
    amount: ETHER,
    logIndex: 9,
  };
  const messageOf = (change: Partial<BurnMessage> = {}): Effect => ({
    kind: "message_sent",
    message: encodeBurnMessage({ ...sent, ...change }),
  });
  const receiptOf = (...effects: readonly Effect[]): Receipt => ({
    txHash: hashOf("sweep"),
    blockHash: toHex32(hashOf("block")),
    blockNumber: 7n,
    succeeded: true,
    gasCost: 0n,
    effects,
  });

  test("gives the swept amount and the minimum that the bridge must deliver", async () => {
    const { route } = openRoute();
    const receipt = receiptOf(swapped, messageOf(), burned, settled);
    expect(await route.readSweep(receipt, address)).toEqual({
      amount: ETHER,
      minOut: BURNED - MAX_FEE,
      logIndex: 9,
      deliveryId: null,
    });
  });

  test("gives the route's burn, not one of the wallet's own USDC in the same transaction", async () => {
    const { route } = openRoute();
    const own = [
      messageOf({ amount: 7_000_000n, maxFee: 1n }),
      { ...burned, amount: 7_000_000n, maxFee: 1n },
      { ...settled, token: USDC, route: addressOf("c1"), amount: 7_000_000n, logIndex: 3 },
    ] as const;
    const ours = [swapped, messageOf(), burned, settled] as const;
    for (const effects of [
      [...own, ...ours],
      [...ours, ...own],
    ]) {
      const sweep = await route.readSweep(receiptOf(...effects), address);
      expect(sweep).toMatchObject({ amount: ETHER, minOut: BURNED - MAX_FEE });
    }
  });

  test.each<[string, readonly Effect[]]>([
    ["the swap", [messageOf(), burned, settled]],
    ["the burn", [swapped, messageOf(), settled]],
    ["the message", [swapped, burned, settled]],
    ["the settled event", [swapped, messageOf(), burned]],
    ["the whole fee", [{ ...swapped, fee: CHARGED - 1n }, messageOf(), burned, settled]],
  ])("gives no sweep when it lacks %s", async (_, effects) => {
    const { route } = openRoute();
    expect(await route.readSweep(receiptOf(...effects), address)).toBeNull();
  });

  test.each<[string, readonly Effect[], string]>([
    [
      "burned another amount than the pool gave",
      [{ ...swapped, amountOut: BURNED + 1n }, messageOf(), burned, settled],
      "the whole pool output is burned",
    ],
    [
      "gave what came out to another",
      [{ ...swapped, to: RECIPIENT }, messageOf(), burned, settled],
      "the pool pays the route",
    ],
    [
      "burned for another recipient",
      [swapped, messageOf({ mintRecipient: padAddress(USDC) }), burned, settled],
      "a mined burn matches the commitment (mintRecipient)",
    ],
  ])("is rejected when it %s", async (_, effects, reason) => {
    const { route } = openRoute();
    await expect(route.readSweep(receiptOf(...effects), address)).rejects.toThrow(reason);
  });

  test("is rejected when the pool gave less than the price demands, or the price was never requested", async () => {
    const { route, state } = openRoute();
    const receipt = receiptOf(swapped, messageOf(), burned, settled);
    state.rateInBlock = (RATE * 103n) / 100n;
    await expect(route.readSweep(receipt, address)).rejects.toThrow("the attested price");
    state.rateInBlock = null;
    expect(await refusalOf(route.readSweep(receipt, address))).toEqual(["INTERNAL", undefined]);
  });
});

describe("the bridge's limit per message [T196]", () => {
  /** The pool's quote for a coin less its fee, and the movement that a sweep allows. */
  const MOST = (2_992_005_000n * 10_050n) / 10_000n;

  test("defers a sweep whose output could exceed it", async () => {
    const { route, planFee, state } = openRoute();
    const fee = await planFee(ETHER, commitment);
    state.burnLimit = MOST - 1n;
    expect(await refusalOf(route.prepareSweep(address, ETHER, fee))).toEqual([
      "NO_ROUTE",
      "burn_limit",
    ]);
    expect(state.calls).toEqual([]);
    state.burnLimit = MOST;
    expect(await route.prepareSweep(address, ETHER, fee)).not.toBeNull();
  });

  test("gives a capacity that passes it at every quote that is accepted", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.bigInt({ min: 10_000_000n, max: 10n ** 13n }),
        fc.bigInt({ min: 2_971_000_000n, max: 3_029_000_000n }),
        async (burnLimit, poolPrice) => {
          const { route, planFee, state } = openRoute();
          Object.assign(state, { burnLimit, poolPrice });
          const part = await route.readCapacity({
            settlementId: "1",
            integratorId: "1",
            addressId: "1",
          });
          expect(part).not.toBeNull();
          const fee = await planFee(part ?? 0n, commitment);
          expect(await refusalOf(route.prepareSweep(address, part ?? 0n, fee))).toBeNull();
          // No more than the accepted impact and slippage is given away.
          const fair = ((part ?? 0n) * RATE) / 10n ** 30n;
          expect(fair * 1_016n).toBeGreaterThan((burnLimit - 1_000n) * 1_000n);
        },
      ),
    );
  });

  test("gives the rest of the daily cap where that is less", async () => {
    const { route, state } = openRoute();
    state.capLeft = ETHER / 2n;
    const of = { settlementId: "1", integratorId: "1", addressId: "1" };
    expect(await route.readCapacity(of)).toBe(ETHER / 2n);
  });

  test("sweeps a part by its amount", async () => {
    const { route, planFee, state } = openRoute();
    const fee = await planFee(ETHER, commitment);
    await route.prepareSweep(address, ETHER, fee, { asOf: 40n });
    expect(state.calls).toMatchObject([{ amount: ETHER, asOf: 40n }]);
  });
});
