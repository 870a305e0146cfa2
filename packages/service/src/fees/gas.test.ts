import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { STEPS } from "../../test/simulation/gas.ts";
import { createStillClock, createStrictChain } from "../../test/support/doubles.ts";
import { OperatingError } from "../core/errors.ts";
import { NATIVE_SOL, NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import { BRIDGE_GAS } from "../routes/fast-mctp/route.ts";
import { SWAP_BRIDGE_GAS } from "../routes/fast-mctp/swap.ts";
import { moduleOf } from "../routes/index.ts";
import { TRANSFER_GAS } from "../routes/mono-chain/route.ts";
import { SWAP_GAS } from "../routes/mono-chain/swap.ts";
import { SWIFT_GAS } from "../routes/swift/route.ts";
import { costOfStep } from "../chains/solana/costs.ts";
import { createGasCosts, DEPLOY_GAS, priceOfGas, REFUND_GAS } from "./gas.ts";
import { configuredRoute } from "../../test/support/routes.ts";

const GWEI = 10n ** 9n;
const USD = 10n ** 18n;
const LAMPORTS = 10n ** 9n;
const SURCHARGE = 10n ** 13n + 1n;
const USDC = toEvmAddress(`0x${"5".repeat(40)}`);
const ROUTE = {
  pair: { srcChain: 2, srcToken: USDC, destChain: 30, destToken: USDC },
  decimalsIn: 6,
  gasSteps: SWIFT_GAS,
} as const;

/** Two chains: gas is expensive on one, and cheap with a surcharge per transaction on the other. */
function openCosts() {
  const clock = createStillClock();
  const state = {
    baseFee: 20n * GWEI,
    coinUsd: 3_000n * USD,
    tokenUsd: USD,
    asked: 0,
    fails: false,
    /** Wei per transaction that the cheap chain states besides gas. */
    layerOne: 0n,
  };
  const feesOf = (baseFee: () => bigint) => async () => {
    state.asked += 1;
    if (state.fails) throw new OperatingError("RPC_UNAVAILABLE", "The node did not answer.");
    return { gasPriceMax: baseFee() * 2n + GWEI, tipMax: GWEI };
  };
  const none = async () => 0n;
  const layerOne = async () => state.layerOne;
  const costs = createGasCosts({
    chains: new Map([
      [2, createStrictChain({ suggestFees: feesOf(() => state.baseFee), readSurcharge: none })],
      [30, createStrictChain({ suggestFees: feesOf(() => 0n), readSurcharge: layerOne })],
    ]),
    clock,
    prices: {
      readUsd: async ({ token }) => (token === NATIVE_TOKEN ? state.coinUsd : state.tokenUsd),
      readReport: () => Promise.reject(new Error("no report is needed")),
      readRate: () => Promise.reject(new Error("no rate is needed")),
    },
    surchargeOf: (chainId) => (chainId === 30 ? SURCHARGE : 0n),
  });
  return { clock, state, costs };
}

test("a unit of gas costs base fee plus tip, not the offered fee cap", () => {
  expect(priceOfGas({ gasPriceMax: 41n * GWEI, tipMax: GWEI })).toBe(21n * GWEI);
  expect(priceOfGas({ gasPriceMax: 10n, tipMax: 3n })).toBe(7n);
});

describe("the gas of a settlement", () => {
  test("includes the fee of a rollup for layer 1, per transaction [T200]", async () => {
    const { state, costs } = openCosts();
    state.layerOne = 10n ** 15n;
    const wei = 220_000n * 21n * GWEI + 125_000n * GWEI + SURCHARGE + state.layerOne;
    expect(await costs.read(ROUTE, false)).toBe((wei * 3_000n) / 10n ** 12n + 1n);
  });

  test("is the sum of its transactions at each chain's gas price, in base units of the token, rounded up", async () => {
    const { costs } = openCosts();
    // 220,000 gas at 21 gwei on the source; 125,000 at 1 gwei on the destination, plus the surcharge per transaction.
    const wei = 220_000n * 21n * GWEI + 125_000n * GWEI + SURCHARGE;
    const usd = wei * 3_000n;
    expect(usd % 10n ** 12n).not.toBe(0n);
    expect(await costs.read(ROUTE, false)).toBe(usd / 10n ** 12n + 1n);
    expect(await costs.read(ROUTE, true)).toBe(
      (usd + 45_000n * 21n * GWEI * 3_000n) / 10n ** 12n + 1n,
    );
  });

  test("to Solana includes the rent of the accounts that the payment opens, in lamports [T37, T38]", async () => {
    const lamports = 25_000n;
    const costs = createGasCosts({
      chains: new Map([
        [
          1,
          createStrictChain({
            kind: "svm",
            coin: { token: NATIVE_SOL, decimals: 9 },
            // The priority fee at which an order costs this much.
            costOfStep: (step) => costOfStep(step, 100_000n),
            suggestFees: async () => ({ gasPriceMax: 0n, tipMax: 0n }),
            readSurcharge: async () => 0n,
          }),
        ],
        [
          30,
          createStrictChain({
            suggestFees: async () => ({ gasPriceMax: 0n, tipMax: 0n }),
            readSurcharge: async () => 0n,
          }),
        ],
      ]),
      clock: createStillClock(),
      prices: {
        readUsd: async ({ token }) => (token === NATIVE_SOL ? 150n * USD : USD),
        readReport: () => Promise.reject(new Error("no report is needed")),
        readRate: () => Promise.reject(new Error("no rate is needed")),
      },
      surchargeOf: () => 0n,
    });
    const rent = (165n + 128n + 129n) * 6_960n;
    const inUsdc = (amount: bigint) => (amount * 150n * 10n ** 6n + LAMPORTS - 1n) / LAMPORTS;
    const pair = { srcToken: USDC, destToken: USDC };
    const toSolana = { ...ROUTE, pair: { ...pair, srcChain: 30, destChain: 1 } };
    expect(await costs.read(toSolana, false)).toBe(inUsdc(lamports + rent));
    // The rent of a lock is refunded with its claim.
    const fromSolana = { ...ROUTE, pair: { ...pair, srcChain: 1, destChain: 30 } };
    expect(await costs.read(fromSolana, false)).toBe(inUsdc(2n * lamports));
  });

  test("in native coin is exactly the payment of the lanes, in wei", async () => {
    const { costs } = openCosts();
    const pair = { srcChain: 2, srcToken: NATIVE_TOKEN, destChain: 2, destToken: NATIVE_TOKEN };
    const route = { pair, decimalsIn: 18, gasSteps: TRANSFER_GAS };
    expect(await costs.read(route, true)).toBe(133_000n * 21n * GWEI);
  });

  test("is that of a pool swap when another token of the same chain is delivered", async () => {
    const { costs } = openCosts();
    const pair = { srcChain: 2, srcToken: NATIVE_TOKEN, destChain: 2, destToken: USDC };
    const route = { pair, decimalsIn: 18, gasSteps: SWAP_GAS };
    expect(await costs.read(route, false)).toBe(312_000n * 21n * GWEI);
  });

  test("is that of a pool swap, a burn and a mint when a pool swap precedes the bridge", async () => {
    const { costs } = openCosts();
    const pair = { srcChain: 2, srcToken: NATIVE_TOKEN, destChain: 30, destToken: USDC };
    const route = { pair, decimalsIn: 18 };
    const mint = 220_000n * GWEI + SURCHARGE;
    expect(await costs.read({ ...route, gasSteps: SWAP_BRIDGE_GAS }, false)).toBe(
      364_000n * 21n * GWEI + mint,
    );
    expect(await costs.read({ ...route, gasSteps: BRIDGE_GAS }, false)).toBe(
      230_000n * 21n * GWEI + mint,
    );
  });

  test("is the same for a priced and an unpriced pair from inventory", async () => {
    const { costs } = openCosts();
    const route = configuredRoute({
      kind: "SWIFT",
      chainId: 2,
      token: USDC,
      destChain: 30,
      destToken: USDC,
      contract: USDC,
      priced: true,
    });
    const gasSteps = moduleOf(route).listGasSteps(route);
    expect(await costs.read({ ...ROUTE, gasSteps }, false)).toBe(await costs.read(ROUTE, false));
  });

  test("doubles when the token is worth half", async () => {
    const { costs, state } = openCosts();
    const pair = { srcChain: 2, srcToken: USDC, destChain: 2, destToken: USDC };
    const route = { pair, decimalsIn: 6, gasSteps: TRANSFER_GAS };
    const whole = await costs.read(route, false);
    state.tokenUsd = USD / 2n;
    const { costs: halved, state: other } = openCosts();
    other.tokenUsd = USD / 2n;
    expect(await halved.read(route, false)).toBe(whole * 2n);
  });

  test("is read again after three seconds, and at once after a failure", async () => {
    const { costs, state, clock } = openCosts();
    state.fails = true;
    await expect(costs.read(ROUTE, false)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
    state.fails = false;
    const before = await costs.read(ROUTE, false);
    const { asked } = state;
    state.baseFee *= 2n;
    clock.advance(2_999);
    expect(await costs.read(ROUTE, false)).toBe(before);
    expect(state.asked).toBe(asked);
    clock.advance(1);
    expect(await costs.read(ROUTE, false)).toBeGreaterThan(before);
  });
});

/** The constants are the results of the contracts' gas tests, rounded up to the next thousand. */
test.each([
  [TRANSFER_GAS[0].gas, ["settle transfer, wallet deployed", "settle native, wallet deployed"]],
  [
    SWIFT_GAS[0].gas,
    ["settle escrow, wallet deployed, first", "settle escrow, wallet deployed, repeated"],
  ],
  [SWIFT_GAS[1].gas, ["deliver, first of its hour", "deliver, repeated"]],
  [SWIFT_GAS[2].gas, ["claim"]],
])("%s gas is the measured gas of %s", (gas, names) => {
  expect(gas).toBe(roundUp(readDearest("GasTest", names)));
});

test("the gas of a deployment is what it adds to the first sweep", () => {
  const missing = readDearest("GasTest", ["settle transfer, wallet missing"]);
  const deployed = readDearest("GasTest", ["settle transfer, wallet deployed"]);
  expect(DEPLOY_GAS).toBe(roundUp(missing - deployed));
  expect(REFUND_GAS).toBe(roundUp(readDearest("GasTest", ["refund by signature"])));
});

/** A swap that crosses an initialised tick of the pool costs 25,000 more than one within a range. */
test.each([
  [
    SWAP_GAS[0].gas,
    ["settle swap to coin, first of its hour", "settle swap of coin, first of its hour"],
  ],
  [
    SWAP_BRIDGE_GAS[0].gas,
    [
      "settle swap and burn of coin, first of its hour",
      "settle swap and burn of a token, first of its hour",
    ],
  ],
])("%s gas is the measured gas of %s and of a tick", (gas, names) => {
  expect(gas).toBe(roundUp(readDearest("MarketGasTest", names) + 25_000));
});

test("the gas of a burn covers the measured one and the proxies of the real USDC", () => {
  const measured = readDearest("MarketGasTest", ["settle burn"]);
  expect(Number(BRIDGE_GAS[0]?.gas)).toBeGreaterThan(measured + 50_000);
});

/** Returns the greatest of some measurements of the contracts' gas tests. */
function readDearest(suite: string, names: readonly string[]): number {
  const path = new URL(`../../../contracts/vectors/gas/${suite}.json`, import.meta.url);
  const measured: Readonly<Record<string, string>> = JSON.parse(readFileSync(path, "utf8"));
  return Math.max(...names.map((name) => Number(measured[name])));
}

const roundUp = (gas: number): bigint => BigInt(Math.ceil(gas / 1_000) * 1_000);

test("the simulation's own arithmetic has the gas of the routes", () => {
  const gasOf = (steps: readonly { readonly gas: bigint }[]) => steps.map(({ gas }) => gas);
  const own = Object.fromEntries(
    Object.entries(STEPS).map(([kind, steps]) => [kind, gasOf(steps)]),
  );
  expect(own).toEqual({
    MONO_CHAIN: gasOf(TRANSFER_GAS),
    SWAP: gasOf(SWAP_GAS),
    SWIFT: gasOf(SWIFT_GAS),
    FAST_MCTP: gasOf(BRIDGE_GAS),
    SWAP_AND_BURN: gasOf(SWAP_BRIDGE_GAS),
  });
});
