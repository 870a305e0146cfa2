import { proveRoute } from "../../addresses/index.ts";
import { type GasStep, itemise, leastAfterFees } from "../../fees/index.ts";
import { createPool, type PoolOptions, poolsOf } from "../pool.ts";
import type { Route } from "../port.ts";
import { WITHOUT_INVENTORY } from "../without-inventory.ts";

/** Gas of the sweep, with one initialised tick of the pool; each further one costs 25,000 more. */
export const SWAP_GAS: readonly [GasStep] = [{ on: "source", gas: 312_000n }];

/** `MONO_CHAIN` into another token of the same chain, through one Uniswap v3 pool. */
export function createPoolSwapRoute(
  options: PoolOptions & { readonly deliveryConfirmations: number },
): Route {
  const { chain, token, tokenOut, contract, decimalsIn, decimalsOut } = options;
  const pool = createPool(options);
  const pools = poolsOf(options.chain);

  return {
    kind: "MONO_CHAIN",
    pair: {
      srcChain: chain.chainId,
      srcToken: token,
      destChain: chain.chainId,
      destToken: tokenOut,
    },
    contract,
    decimalsIn,
    decimalsOut,
    etaSeconds: 30,
    waitsForFinality: false,
    deliversBySweep: true,
    isPriced: true,
    gasSteps: SWAP_GAS,

    // The value never leaves the chain.
    readBridgeFee: async () => 0n,

    async quote(amount, caps, fee) {
      const rate = await pool.readRate();
      const { service, gas } = itemise(amount, fee, caps.maxFeeBps);
      const swapped = amount - service - gas;
      const minOut = pool.leastOf(leastAfterFees(amount, caps.maxFeeBps), rate, caps);
      // The contract requires a positive minimum, so the pool is not queried.
      if (minOut === 0n) return { fair: 0n, amountOut: 0n, minOut: 0n };
      const amountOut = await pool.ask(swapped, rate, caps);
      // At the pool's price before the fee, so that the difference to `amountOut` is the fee.
      return { fair: (amountOut * amount) / swapped, amountOut, minOut };
    },

    async prepareSweep(address, amount, fee, { asOf } = {}) {
      const planned = await pool.planOrder(address, amount, fee);
      if (planned === null) return null;
      const routeData = pools.encodeSwapData(planned.order);
      const { commitment } = address;
      const proof = proveRoute(address, { chainId: chain.chainId, contract });
      const settled = { commitment, token, route: contract, routeData, proof, amount, asOf };
      return chain.buildSettle(settled);
    },

    // The sweep is the delivery, so no inventory is reserved.
    ...WITHOUT_INVENTORY,

    readCapacity: () => pool.readCapLeft(),

    async readSweep(receipt, address) {
      const swept = await pool.readSweep(receipt, address);
      if (swept === null) return null;
      const { amount, logIndex, least, swapped } = swept;
      return { amount, logIndex, minOut: least, deliveryId: null, swapFee: swapped.fee };
    },

    recordSweep: async () => {},

    async checkDelivery({ address, sweep }, source) {
      if (!source) return { kind: "waiting" };
      const head = await chain.getHead();
      const confirmations = head.number - source.blockNumber + 1n;
      if (confirmations < BigInt(options.deliveryConfirmations)) return { kind: "waiting" };
      const swapped = pool.findSwap(source, address.wallet);
      if (swapped?.to !== address.destWallet || swapped.amountOut < sweep.minOut) {
        return { kind: "waiting" };
      }
      return { kind: "delivered", txHash: source.txHash, amount: swapped.amountOut };
    },
  };
}
