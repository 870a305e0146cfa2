/** The transfer and the pool swap on one chain, against the suite of all routes. */
import { createEncodingChain } from "../../../test/support/encoding-chain.ts";
import { createStillClock, hashOf } from "../../../test/support/doubles.ts";
import {
  type Arrival,
  behavesLikeRoute,
  receiptOfSweep,
} from "../../../test/support/route-suite.ts";
import type { Effect } from "../../chains/port/index.ts";
import type { Caps } from "../../core/amounts.ts";
import { OperatingError } from "../../core/errors.ts";
import { toEvmAddress, toHex32 } from "../../core/hex.ts";
import type { Pricing } from "../swift/pricing.ts";
import { createMonoChainRoute } from "./route.ts";
import { createPoolSwapRoute } from "./swap.ts";
import { chargeOf } from "./swap-terms.ts";

const SWEPT_BLOCK = 7n;

/** Returns the amount less `RouteFeeLib.cap`. */
function leastLeft(amount: bigint, maxFeeBps: number): bigint {
  const cap = (amount * BigInt(maxFeeBps)) / 10_000n;
  return amount - (cap < amount - 1n ? cap : amount - 1n);
}

behavesLikeRoute("MONO_CHAIN to the same token", {
  kind: "MONO_CHAIN",
  waitsForFinality: false,
  isPriced: false,
  hasInventory: false,
  routeData: [
    {
      type: "tuple",
      components: [
        { name: "bps", type: "uint16" },
        { name: "flat", type: "uint256" },
      ],
    },
  ],

  // TransferRoute sends the amount less its fee.
  leastByContract: (amount, { maxFeeBps }) => leastLeft(amount, maxFeeBps),

  openBench(_db, { token, contract }) {
    let arrival: Arrival | null = null;
    let isAway = false;
    const chain = createEncodingChain(2, {
      async getHead() {
        if (isAway) throw new OperatingError("RPC_UNAVAILABLE", "The node did not answer.");
        const number = arrival?.isConfirmed ? SWEPT_BLOCK + 2n : SWEPT_BLOCK;
        return { number, hash: toHex32(hashOf("head")), parentHash: toHex32(hashOf("before")) };
      },
    });
    return {
      open: () =>
        createMonoChainRoute({ chain, token, decimals: 6, contract, deliveryConfirmations: 3 }),
      receiptOf: (sweep) => receiptOfSweep(sweep, { token, contract, block: SWEPT_BLOCK }, []),
      show: (shown) => void (arrival = shown),
      setAway: (away) => void (isAway = away),
      work: async () => undefined,
      // The sweep itself delivers.
      findSource(receipt) {
        if (!arrival) return null;
        const [settled] = receipt.effects;
        if (settled?.kind !== "settled") throw new Error("the receipt shows the sweep");
        const { wallet, amount } = settled;
        const { to, token: arrived, amount: paid } = arrival;
        const transferred: Effect = {
          kind: "transferred",
          wallet,
          token: arrived,
          to,
          amount: paid,
          fee: amount - paid,
        };
        return { ...receipt, effects: [transferred, settled] };
      },
    };
  },
});

const WETH = toEvmAddress(`0x${"ee".repeat(20)}`);
const DEST_TOKEN = toEvmAddress(`0x${"b0".repeat(20)}`);
const RATE_SCALE = 10n ** 18n;
const RATE = 333_333_333_333_333n;

/** `UniswapSwap.minOut`, of 6 decimals in and 18 out. */
function minOutOfSwap(amountIn: bigint, { maxSlippageBps }: Pick<Caps, "maxSlippageBps">): bigint {
  if (maxSlippageBps >= 10_000) return 0n;
  const fair = (amountIn * RATE * 10n ** 18n) / (RATE_SCALE * 10n ** 6n);
  return fair - (fair * BigInt(maxSlippageBps)) / 10_000n;
}

behavesLikeRoute("MONO_CHAIN to another token", {
  kind: "MONO_CHAIN",
  waitsForFinality: false,
  isPriced: true,
  hasInventory: false,
  routeData: [
    {
      type: "tuple",
      components: [
        { name: "rate", type: "uint256" },
        { name: "maxAmount", type: "uint256" },
        { name: "deadline", type: "uint256" },
      ],
    },
    { name: "signature", type: "bytes" },
    {
      type: "tuple",
      components: [
        { name: "bps", type: "uint16" },
        { name: "flat", type: "uint256" },
      ],
    },
    { name: "minOut", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],

  // The amount after the full cap is swapped at the price less the full slippage.
  leastByContract: (amount, caps) => minOutOfSwap(leastLeft(amount, caps.maxFeeBps), caps),
  leastOfSweep: ({ address, amount, fee }) =>
    minOutOfSwap(amount - chargeOf(amount, fee), address.commitment),

  openBench(_db, { token, contract }) {
    let arrival: Arrival | null = null;
    let isAway = false;
    const clock = createStillClock();
    const chain = createEncodingChain(2, {
      async getHead() {
        if (isAway) throw new OperatingError("RPC_UNAVAILABLE", "The node did not answer.");
        const number = arrival?.isConfirmed ? SWEPT_BLOCK + 2n : SWEPT_BLOCK;
        return { number, hash: toHex32(hashOf("head")), parentHash: toHex32(hashOf("before")) };
      },
      // A pool of unlimited depth, at the price.
      quoteSwap: async ({ amountIn }) => (amountIn * RATE * 10n ** 18n) / (RATE_SCALE * 10n ** 6n),
      readSwapLimits: async () => ({ least: 0n, capLeft: 2n ** 112n }),
    });
    const pricing: Pricing = {
      readRate: async () => RATE,
      rateToleranceBps: 200,
      attestPrice: async (_, amount) => ({
        price: { rate: RATE, maxAmount: amount, deadline: BigInt(clock.now() / 1000) + 100n },
        signature: `0x${"51".repeat(65)}`,
        bounds: { min: RATE, max: RATE },
      }),
      findRateAt: async (_, { route }) => (route === contract ? RATE : null),
    };
    return {
      open: () =>
        createPoolSwapRoute({
          clock,
          chain,
          quoter: WETH,
          weth: WETH,
          token,
          decimalsIn: 6,
          tokenOut: DEST_TOKEN,
          decimalsOut: 18,
          poolFee: 500,
          maxImpactBps: 100,
          slippageBps: 50,
          contract,
          deliveryConfirmations: 3,
          pricing,
        }),
      receiptOf(sweep) {
        const { address, amount, fee, wallet = address.wallet } = sweep;
        const charged = chargeOf(amount, fee);
        const swapped: Effect = {
          kind: "swapped",
          wallet,
          to: address.destWallet,
          tokenIn: sweep.token ?? token,
          tokenOut: DEST_TOKEN,
          amountIn: amount - charged,
          amountOut: 0n,
          fee: charged,
        };
        return receiptOfSweep(sweep, { token, contract, block: SWEPT_BLOCK }, [swapped]);
      },
      show: (shown) => void (arrival = shown),
      setAway: (away) => void (isAway = away),
      work: async () => undefined,
      // The sweep itself delivers.
      findSource(receipt) {
        if (!arrival) return null;
        const { to, token: tokenOut, amount: amountOut } = arrival;
        const effects = receipt.effects.map((effect) =>
          effect.kind === "swapped" ? { ...effect, to, tokenOut, amountOut } : effect,
        );
        return { ...receipt, effects };
      },
    };
  },
});
