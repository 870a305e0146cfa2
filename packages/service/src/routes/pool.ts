/**
 * One Uniswap v3 pool, as routes use it. The minimum output follows from the price that the attestor signed; the contract
 * enforces it regardless of the pool, its traders and this service. The pool's own quote decides the offered amount, and may
 * raise the minimum.
 */
import type {
  Chain,
  Pools,
  Receipt,
  RouteFee,
  PoolSwapFacts,
  PoolSwapTerms,
} from "../chains/port/index.ts";
import { BPS, type Caps, convert } from "../core/amounts.ts";
import { OperatingError } from "../core/errors.ts";
import { type Address, isNative, type TxHash } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import type { DepositAddress } from "../addresses/index.ts";
import {
  assertFair,
  assertWithinLimits,
  chargeOf,
  swapMinimumOf,
} from "./mono-chain/swap-terms.ts";
import type { Pricing } from "./swift/pricing.ts";

/** Seconds until a planned swap expires; the sweep is then planned again. */
const SWAP_LIFETIME_S = 120n;

type SlippageCap = Pick<Caps, "maxSlippageBps">;

/** A sweep through the pool, as its receipt shows it. */
export interface PoolSweep {
  /** Base units that left the wallet. */
  readonly amount: bigint;
  readonly logIndex: number;
  readonly swapped: PoolSwapFacts;
  /** Minimum output under the attested price of the sweep, in output base units. */
  readonly least: bigint;
}

export interface Pool {
  /** Returns the service's own rate. Throws PRICE_UNAVAILABLE. */
  readRate(): Promise<bigint>;
  /** Returns the value of an amount at a rate, in base units of the output token. */
  fairOf(amountIn: bigint, rate: bigint): bigint;
  /** Returns the minimum output that the contract accepts for an amount at a rate. */
  leastOf(amountIn: bigint, rate: bigint, caps: SlippageCap): bigint;
  /** Returns the pool's quote for an amount. Throws NO_ROUTE if it is not fair at the rate, or the contract would refuse it. */
  ask(amountIn: bigint, rate: bigint, caps: SlippageCap): Promise<bigint>;
  /** Returns the input that the daily cap of the route's contract still allows, before fees. */
  readCapLeft(): Promise<bigint>;
  /**
   * Returns the minimum output to require of a quote. The pool may move by the configured slippage, within the cap of the
   * address.
   */
  insistOn(answer: bigint, caps: SlippageCap): bigint;
  /** Plans the swap of a deposit and returns it with the pool's quote, or null while the attestor has not signed a price. */
  planOrder(
    address: DepositAddress,
    amount: bigint,
    fee: RouteFee,
  ): Promise<{ readonly order: PoolSwapTerms; readonly answer: bigint } | null>;
  /**
   * Reads the swap of a wallet's sweep by this route; null if the receipt does not show all of it.
   * @throws OperatingError INTERNAL if no price was ever requested for it.
   */
  readSweep(receipt: Receipt, address: DepositAddress): Promise<PoolSweep | null>;
  /** Finds the pool swap of a wallet in the receipt of its sweep. */
  findSwap(receipt: Receipt, wallet: Address): PoolSwapFacts | null;
}

export interface PoolOptions {
  readonly clock: Clock;
  readonly chain: Chain;
  readonly quoter: Address;
  readonly weth: Address;
  readonly token: Address;
  readonly decimalsIn: number;
  readonly tokenOut: Address;
  readonly decimalsOut: number;
  readonly poolFee: number;
  readonly maxImpactBps: number;
  readonly slippageBps: number;
  /** The route's contract. */
  readonly contract: Address;
  readonly pricing: Pricing;
}

/** Returns the pools of a chain. Called when routes are created, so that a process without them does not start. */
export function poolsOf({ chainId, pools }: Chain): Pools {
  if (pools) return pools;
  throw new OperatingError("CONFIG_MISSING", "A route swaps on a chain that has no pools.", {
    details: { chainId },
  });
}

export function createPool(options: PoolOptions): Pool {
  const { chain, quoter, weth, token, tokenOut, contract, pricing } = options;
  const { decimalsIn, decimalsOut, poolFee, maxImpactBps } = options;
  const pools = poolsOf(chain);
  const wrap = (address: Address) => (isNative(address) ? weth : address);
  const ratedAt = (rate: bigint) => ({ rate, decimalsIn, decimalsOut });

  const pool: Pool = {
    readRate: () => pricing.readRate(),
    fairOf: (amount, rate) => convert({ amount, ...ratedAt(rate) }),
    leastOf: (amountIn, rate, caps) => swapMinimumOf(amountIn, ratedAt(rate), caps),

    async ask(amountIn, rate, caps) {
      const fair = pool.fairOf(amountIn, rate);
      const least = pool.leastOf(amountIn, rate, caps);
      const question = { quoter, tokenIn: wrap(token), tokenOut: wrap(tokenOut), amountIn };
      const [answer, limits] = await Promise.all([
        pools.quoteSwap({ ...question, poolFee }),
        pools.readSwapLimits({ route: contract, token, amountIn }),
      ]);
      assertFair(answer, { fair, least, maxImpactBps });
      assertWithinLimits(answer, { amountIn, limits });
      return answer;
    },

    async readCapLeft() {
      // The cap does not depend on the amount.
      const { capLeft } = await pools.readSwapLimits({ route: contract, token, amountIn: 1n });
      return capLeft;
    },

    insistOn(answer, { maxSlippageBps }) {
      const slippageBps = BigInt(Math.min(options.slippageBps, maxSlippageBps));
      return (answer * (BPS - slippageBps)) / BPS;
    },

    async planOrder(address, amount, { bps, flat }) {
      const attested = await pricing.attestPrice(address, amount);
      if (attested === null) return null;
      // The minimum output is our own bound in the contract.
      const { price, signature } = attested;
      const { commitment } = address;
      const fee = { bps, flat };
      const answer = await pool.ask(amount - chargeOf(amount, fee), price.rate, commitment);
      const deadline = BigInt(Math.floor(options.clock.now() / 1000)) + SWAP_LIFETIME_S;
      const minOut = pool.insistOn(answer, commitment);
      return { order: { price, signature, fee, minOut, deadline }, answer };
    },

    async readSweep(receipt, address) {
      const { wallet, commitment } = address;
      const settled = receipt.effects.find(
        (effect) =>
          effect.kind === "settled" &&
          effect.route === contract &&
          effect.wallet === wallet &&
          effect.token === token,
      );
      const swapped = pool.findSwap(receipt, wallet);
      if (settled?.kind !== "settled" || swapped === null) return null;
      const { amount, logIndex } = settled;
      if (swapped.amountIn + swapped.fee !== amount) return null;
      const block = { number: receipt.blockNumber, hash: receipt.blockHash };
      const rate = await pricing.findRateAt(address, { route: contract, block });
      if (rate === null) throw unknownPrice(receipt.txHash);
      return { amount, logIndex, swapped, least: pool.leastOf(swapped.amountIn, rate, commitment) };
    },

    findSwap({ effects }, wallet) {
      for (const effect of effects) {
        if (effect.kind !== "swapped" || effect.wallet !== wallet) continue;
        if (effect.tokenIn === token && effect.tokenOut === tokenOut) return effect;
      }
      return null;
    },
  };
  return pool;
}

/** The contract accepts only signed prices, so a missing one means that the receipt or the database is wrong. */
function unknownPrice(txHash: TxHash): OperatingError {
  return new OperatingError("INTERNAL", "The swap used a price that was never requested.", {
    details: { txHash },
  });
}
