/**
 * One pool of Uniswap v3, as the routes through it use it. What must come out follows from the price that the attestor
 * signed: the contract insists on it, whatever the pool, its traders or we say. The pool's own answer decides what is
 * offered, and what is insisted on beyond that.
 */
import type {
  AttestedPrice,
  Chain,
  Pools,
  Receipt,
  RouteFee,
  PoolSwapFacts,
  PoolSwapTerms,
} from "../chains/port/index.ts";
import { assert } from "../core/assert.ts";
import { BPS, type Caps, convert } from "../core/amounts.ts";
import { OperatingError } from "../core/errors.ts";
import { type Address, isNative, type TxHash } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import type { DepositAddress } from "../addresses/index.ts";
import { assertFair, chargeOf, swapMinimumOf } from "./mono-chain/swap-terms.ts";
import type { Pricing } from "./swift/pricing.ts";

/** The pool is given this long; then the sweep is planned anew. */
const SWAP_LIFETIME_S = 120n;

type SlippageCap = Pick<Caps, "maxSlippageBps">;

/** A sweep through the pool, as its receipt shows it. */
export interface PoolSweep {
  /** Base units that left the wallet. */
  readonly amount: bigint;
  readonly logIndex: number;
  readonly swapped: PoolSwapFacts;
  /** The least that the price it was made at let come out. */
  readonly least: bigint;
}

export interface Pool {
  /** Our own rate. Throws PRICE_UNAVAILABLE. */
  readRate(): Promise<bigint>;
  /** What an amount is worth at a rate, in base units of what comes out. */
  fairOf(amountIn: bigint, rate: bigint): bigint;
  /** The least that the contract lets come out of an amount at a rate. */
  leastOf(amountIn: bigint, rate: bigint, caps: SlippageCap): bigint;
  /** What the pool gives for an amount. Throws NO_ROUTE unless that is fair by the rate. */
  ask(amountIn: bigint, rate: bigint, caps: SlippageCap): Promise<bigint>;
  /** The least to insist on of an answer: the pool may move a little, within what the address allows. */
  insistOn(answer: bigint, caps: SlippageCap): bigint;
  /** How to ask for the swap of a deposit, and what the pool gives for it; null while the attestor has not signed a price. */
  planOrder(
    address: DepositAddress,
    amount: bigint,
    fee: RouteFee,
  ): Promise<{ readonly order: PoolSwapTerms; readonly answer: bigint } | null>;
  /**
   * The swap of a wallet's sweep by the route; null where the receipt does not show all of it.
   * @throws OperatingError INTERNAL where nobody ever asked for a price of it.
   */
  readSweep(receipt: Receipt, address: DepositAddress): Promise<PoolSweep | null>;
  /** What the pool exchanged for a wallet, as the transaction that settled it says. */
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
  /** The route's. */
  readonly contract: Address;
  readonly pricing: Pricing;
}

/** Returns the pools of a chain. */
export function poolsOf({ pools }: Chain): Pools {
  assert(pools, "the configuration names no swap on a chain without pools");
  return pools;
}

export function createPool(options: PoolOptions): Pool {
  const { chain, quoter, weth, token, tokenOut, contract, pricing } = options;
  const { decimalsIn, decimalsOut, poolFee, maxImpactBps } = options;
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
      const answer = await poolsOf(chain).quoteSwap({ ...question, poolFee });
      assertFair(answer, { fair, least, maxImpactBps });
      return answer;
    },

    insistOn(answer, { maxSlippageBps }) {
      const slippageBps = BigInt(Math.min(options.slippageBps, maxSlippageBps));
      return (answer * (BPS - slippageBps)) / BPS;
    },

    async planOrder(address, amount, { bps, flat }) {
      const attested: AttestedPrice | null = await pricing.attestPrice(address, amount);
      if (attested === null) return null;
      const { commitment } = address;
      const fee = { bps, flat };
      const answer = await pool.ask(
        amount - chargeOf(amount, fee),
        attested.price.rate,
        commitment,
      );
      const deadline = BigInt(Math.floor(options.clock.now() / 1000)) + SWAP_LIFETIME_S;
      const minOut = pool.insistOn(answer, commitment);
      return { order: { ...attested, fee, minOut, deadline }, answer };
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

/** The contract takes no price that was not signed here, so either the receipt or the database is wrong. */
function unknownPrice(txHash: TxHash): OperatingError {
  return new OperatingError("INTERNAL", "A swap at a price that was never asked for.", {
    details: { txHash },
  });
}
