import type { AttestedPrice, Chain, Receipt, RouteFee, SwapFacts } from "../../chains/port.ts";
import { BPS, type Caps, convert } from "../../core/amounts.ts";
import { OperatingError } from "../../core/errors.ts";
import { type Address, isNative, type TxHash } from "../../core/hex.ts";
import type { Clock } from "../../core/ports.ts";
import { itemise, leastAfterFees } from "../../fees/index.ts";
import type { Route } from "../port.ts";
import { WITHOUT_INVENTORY } from "../without-inventory.ts";
import type { Pricing } from "../swift/pricing.ts";
import { assertFair, chargeOf, swapMinimumOf } from "./swap-terms.ts";

/** The pool is given this long; then the sweep is planned anew. */
const SWAP_LIFETIME_S = 120n;

/**
 * `MONO_CHAIN` into another token of the same chain, through one pool of Uniswap v3. What must come out follows from the
 * price that the attestor signed: the contract insists on it, whatever the pool, its traders or we say. The pool's own
 * answer decides what is offered, and what is insisted on beyond that.
 */
export function createSwapRoute(options: {
  readonly clock: Clock;
  readonly chain: Chain;
  readonly quoter: Address;
  readonly weth: Address;
  readonly token: Address;
  readonly decimalsIn: number;
  readonly destToken: Address;
  readonly decimalsOut: number;
  readonly poolFee: number;
  readonly maxImpactBps: number;
  readonly slippageBps: number;
  readonly contract: Address;
  readonly deliveryConfirmations: number;
  readonly pricing: Pricing;
}): Route {
  const { chain, token, destToken, contract, pricing, decimalsIn, decimalsOut } = options;
  const { quoter, weth } = options;
  const wrap = (address: Address) => (isNative(address) ? weth : address);
  const ratedAt = (rate: bigint) => ({ rate, decimalsIn, decimalsOut });

  /** What the pool gives for an amount, if that is fair by the rate. */
  async function askPool(amountIn: bigint, rate: bigint, caps: Caps): Promise<bigint> {
    const fair = convert({ amount: amountIn, ...ratedAt(rate) });
    const least = swapMinimumOf(amountIn, ratedAt(rate), caps);
    const question = { quoter, tokenIn: wrap(token), tokenOut: wrap(destToken), amountIn };
    const answer = await chain.quoteSwap({ ...question, poolFee: options.poolFee });
    assertFair(answer, { fair, least, maxImpactBps: options.maxImpactBps });
    return answer;
  }

  /** The least to insist on: the pool may move a little, within what the address allows. */
  function insistOn(answer: bigint, { maxSlippageBps }: Caps): bigint {
    const slippageBps = BigInt(Math.min(options.slippageBps, maxSlippageBps));
    return (answer * (BPS - slippageBps)) / BPS;
  }

  async function buildOrder(attested: AttestedPrice, amount: bigint, fee: RouteFee, caps: Caps) {
    const answer = await askPool(amount - chargeOf(amount, fee), attested.price.rate, caps);
    const deadline = BigInt(Math.floor(options.clock.now() / 1000)) + SWAP_LIFETIME_S;
    return { ...attested, fee, minOut: insistOn(answer, caps), deadline };
  }

  return {
    kind: "MONO_CHAIN",
    pair: { srcChain: chain.chainId, srcToken: token, destChain: chain.chainId, destToken },
    contract,
    decimalsIn,
    decimalsOut,
    etaSeconds: 30,
    waitsForFinality: false,
    deliversBySweep: true,
    isPriced: true,

    // What is swept never leaves the chain.
    readBridgeFee: async () => 0n,

    async quote(amount, caps, fee) {
      const rate = await pricing.readRate();
      const { service, gas } = itemise(amount, fee, caps.maxFeeBps);
      const swapped = amount - service - gas;
      const worst = leastAfterFees(amount, caps.maxFeeBps);
      const minOut = swapMinimumOf(worst, ratedAt(rate), caps);
      // The contract insists on something, so there is nothing to ask the pool.
      if (minOut === 0n) return { fair: 0n, amountOut: 0n, minOut: 0n };
      const amountOut = await askPool(swapped, rate, caps);
      // Before the fee, and at the pool's price: what is missing from it is the fee.
      return { fair: (amountOut * amount) / swapped, amountOut, minOut };
    },

    async prepareSweep(address, amount, { bps, flat }) {
      const { commitment } = address;
      const attested = await pricing.attestPrice(address, amount);
      if (attested === null) return null;
      const order = await buildOrder(attested, amount, { bps, flat }, commitment);
      const routeData = chain.encodeSwapData(order);
      return chain.buildSettle({ commitment, token, route: contract, routeData, amount });
    },

    // The delivery is the sweep itself: there is nothing to set aside.
    ...WITHOUT_INVENTORY,

    async readSweep(receipt, address) {
      const { wallet, commitment } = address;
      for (const effect of receipt.effects) {
        if (effect.kind !== "settled" || effect.route !== contract) continue;
        if (effect.wallet !== wallet || effect.token !== token) continue;
        const swapped = findSwap(receipt.effects, { wallet, token, destToken });
        const { amount, logIndex } = effect;
        if (swapped === null || swapped.amountIn + swapped.fee !== amount) return null;
        const block = { number: receipt.blockNumber, hash: receipt.blockHash };
        const rate = await pricing.findRateAt(address, { route: contract, block });
        if (rate === null) throw unknownPrice(receipt.txHash);
        const minOut = swapMinimumOf(swapped.amountIn, ratedAt(rate), commitment);
        return { amount, logIndex, minOut, deliveryId: null, swapFee: swapped.fee };
      }
      return null;
    },

    recordSweep: async () => {},

    async lookForDelivery({ address, sweep }, source) {
      if (!source) return { kind: "waiting" };
      const head = await chain.getHead();
      const confirmations = head.number - source.blockNumber + 1n;
      if (confirmations < BigInt(options.deliveryConfirmations)) return { kind: "waiting" };
      const { wallet, destWallet } = address;
      const swapped = findSwap(source.effects, { wallet, token, destToken });
      if (swapped?.to !== destWallet || swapped.amountOut < sweep.minOut) {
        return { kind: "waiting" };
      }
      return { kind: "delivered", txHash: source.txHash, amount: swapped.amountOut };
    },
  };
}

/** What a pool exchanged for the wallet, as the transaction that settled it says. */
function findSwap(
  effects: Receipt["effects"],
  swap: { readonly wallet: Address; readonly token: Address; readonly destToken: Address },
): SwapFacts | null {
  for (const effect of effects) {
    if (effect.kind !== "swapped" || effect.wallet !== swap.wallet) continue;
    if (effect.tokenIn === swap.token && effect.tokenOut === swap.destToken) return effect;
  }
  return null;
}

/** The contract takes no price that was not signed here, so either the receipt or the database is wrong. */
function unknownPrice(txHash: TxHash): OperatingError {
  return new OperatingError("INTERNAL", "A swap at a price that was never asked for.", {
    details: { txHash },
  });
}
