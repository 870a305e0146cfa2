import { proveRoute } from "../../addresses/index.ts";
import { assert } from "../../core/assert.ts";
import { BPS, type Caps, RATE_SCALE } from "../../core/amounts.ts";
import type { Address } from "../../core/hex.ts";
import { type GasStep, itemise, leastAfterFees } from "../../fees/index.ts";
import { chargeOf } from "../mono-chain/swap-terms.ts";
import { createPool, type PoolOptions } from "../pool.ts";
import type { Route } from "../port.ts";
import { WITHOUT_INVENTORY } from "../without-inventory.ts";
import { type BurnsOptions, bridgeOf, createBurns, MINT_GAS } from "./burns.ts";
import { assertBurnable, chooseSpeed, etaOf, FAST_SECONDS, maxFeeOf } from "./terms.ts";

/** Gas of swap and burn in one transaction, with one initialised tick of the pool; and of the mint. */
export const SWAP_BRIDGE_GAS: readonly [GasStep, GasStep] = [
  { on: "source", gas: 364_000n },
  MINT_GAS,
];

/**
 * `FAST_MCTP` with another deposited token: a Uniswap v3 pool swaps it for USDC, which is burned in the same transaction.
 * The route fee is taken from the deposit before the pool swap; the bridge fee may use the rest of the committed cap, at the
 * price of the swap. The whole output of the pool is burned.
 */
export function createSwapMctpRoute(
  options: BurnsOptions & Omit<PoolOptions, "chain"> & { readonly destToken: Address },
): Route {
  const { source, destination, token, tokenOut, destToken, contract } = options;
  const { decimalsIn, decimalsOut, slippageBps } = options;
  const cctp = bridgeOf(source);
  const pool = createPool({ ...options, chain: source });
  const burns = createBurns(options, { deposited: token, burned: tokenOut, minted: destToken });

  /**
   * Plans the burn of the pool's output. The bridge fee is limited to the plan at the minimum output: the contract refuses a
   * higher one if the pool gives only the minimum.
   */
  async function planBurn(
    { amountIn, answer }: { readonly amountIn: bigint; readonly answer: bigint },
    bridge: bigint,
    caps: Caps,
  ) {
    const maxFee = (bridge * pool.insistOn(answer, caps)) / amountIn;
    return { maxFee, ...chooseSpeed(answer, maxFee, await burns.readTerms()) };
  }

  return {
    kind: "FAST_MCTP",
    pair: {
      srcChain: source.chainId,
      srcToken: token,
      destChain: destination.chainId,
      destToken,
    },
    contract,
    decimalsIn,
    decimalsOut,
    etaSeconds: FAST_SECONDS,
    waitsForFinality: false,
    deliversBySweep: false,
    payer: "bridge",
    isPriced: true,
    gasSteps: SWAP_BRIDGE_GAS,

    async readBridgeFee(amount, room) {
      const fair = pool.fairOf(amount, await pool.readRate());
      if (fair === 0n) return 0n;
      const fee = maxFeeOf(fair, (room * fair) / amount, await burns.readTerms());
      return (fee * amount + fair - 1n) / fair;
    },

    async quote(amount, caps, fee) {
      const rate = await pool.readRate();
      const minOut = leastMinted(pool.leastOf(leastAfterFees(amount, caps.maxFeeBps), rate, caps));
      // The contract requires a positive minimum, so the pool is not queried.
      if (minOut === 0n) return { fair: 0n, amountOut: 0n, minOut: 0n };
      const { service, gas, bridge } = itemise(amount, fee, caps.maxFeeBps);
      const amountIn = amount - service - gas;
      const answer = await pool.ask(amountIn, rate, caps);
      const burn = await planBurn({ amountIn, answer }, bridge, caps);
      return {
        // At the pool's price before all fees, so that the difference to `amountOut` is the fees.
        fair: (answer * amount) / amountIn,
        amountOut: answer - burn.expectedFee,
        minOut,
        etaSeconds: etaOf(burn.minFinalityThreshold),
      };
    },

    async prepareSweep(address, amount, fee, { asOf } = {}) {
      const { commitment } = address;
      const planned = await pool.planOrder(address, amount, fee);
      if (planned === null) return null;
      const { order, answer } = planned;
      const amountIn = amount - chargeOf(amount, fee);
      const { bridge } = itemise(amount, fee, commitment.maxFeeBps);
      const burn = await planBurn({ amountIn, answer }, bridge, commitment);
      const { maxFee, minFinalityThreshold } = burn;
      assertBurnable(mostOf(answer, slippageBps), await burns.readLimit());
      const routeData = cctp.encodeSwapBurnData({
        ...order,
        maxFee,
        minFinalityThreshold,
      });
      const proof = proveRoute(address, { chainId: source.chainId, contract });
      const settled = { commitment, token, route: contract, routeData, proof, amount, asOf };
      return source.buildSettle(settled);
    },

    // The bridge mints, so no inventory is reserved.
    ...WITHOUT_INVENTORY,

    async readCapacity() {
      const [capLeft, limit, rate] = await Promise.all([
        pool.readCapLeft(),
        burns.readLimit(),
        pool.readRate(),
      ]);
      const many = 10n ** BigInt(decimalsIn) * RATE_SCALE;
      // A fair quote is at most the value and the accepted impact.
      const most = mostOf(mostOf(pool.fairOf(many, rate), options.maxImpactBps), slippageBps);
      const burnable = most === 0n ? capLeft : (limit * many) / most;
      return burnable < capLeft ? burnable : capLeft;
    },

    async readSweep(receipt, address) {
      const burn = burns.read(receipt, address);
      const swept = burn && (await pool.readSweep(receipt, address));
      if (!burn || !swept) return null;
      const { swapped, least, amount, logIndex } = swept;
      const { burned } = burn;
      assert(swapped.to === contract, "the pool pays the route");
      assert(swapped.amountOut === burned.amount, "the whole pool output is burned");
      assert(swapped.amountOut >= least, "the pool output meets the attested price");
      return { amount, logIndex, minOut: burned.amount - burned.maxFee, deliveryId: null };
    },

    async recordSweep(tx, { settlementId, address, sweep: { minOut }, receipt }) {
      const burn = burns.read(receipt, address);
      const facts = pool.findSwap(receipt, address.wallet);
      assert(burn && facts, "a sweep through the bridge swaps and burns");
      const { fee } = facts;
      const swapped = { token, amount: facts.amountIn };
      await burns.record(tx, { settlementId, address, receipt, burn, minOut, fee, swapped });
    },

    checkDelivery: ({ settlementId }) => burns.checkMint(settlementId),
  };
}

/** Returns an output that the pool's movement until the sweep may raise, rounded up: all of it is burned. */
function mostOf(output: bigint, byBps: number): bigint {
  return (output * (BPS + BigInt(byBps)) + BPS - 1n) / BPS;
}

/**
 * Returns the minimum mint if the pool must give `least` after the whole fee cap. The contract rounds the pool's minimum
 * before it deducts the bridge fee, so a smaller fee can leave one base unit less.
 */
function leastMinted(least: bigint): bigint {
  return least > 0n ? least - 1n : 0n;
}
