import type { Chain } from "../../chains/port/index.ts";
import { proveRoute } from "../../addresses/index.ts";
import type { Address } from "../../core/hex.ts";
import { type GasStep, itemise, leastAfterFees } from "../../fees/index.ts";
import type { Route } from "../port.ts";
import { WITHOUT_INVENTORY } from "../without-inventory.ts";

/** Gas of the sweep, which also pays the recipient. */
export const TRANSFER_GAS = [
  { on: "source", gas: 88_000n, paysRecipient: true },
] as const satisfies readonly GasStep[];

/** `MONO_CHAIN`: transfers the same token on the same chain from the wallet to the committed one. */
export function createMonoChainRoute(options: {
  readonly chain: Chain;
  readonly token: Address;
  readonly decimals: number;
  readonly contract: Address;
  readonly deliveryConfirmations: number;
}): Route {
  const { chain, token, decimals, contract, deliveryConfirmations } = options;

  return {
    kind: "MONO_CHAIN",
    pair: {
      srcChain: chain.chainId,
      srcToken: token,
      destChain: chain.chainId,
      destToken: token,
    },
    contract,
    decimalsIn: decimals,
    decimalsOut: decimals,
    etaSeconds: 30,
    waitsForFinality: false,
    deliversBySweep: true,
    isPriced: false,
    gasSteps: TRANSFER_GAS,

    // The value never leaves the chain.
    readBridgeFee: async () => 0n,

    async quote(amount, { maxFeeBps }, fee) {
      const { service, gas } = itemise(amount, fee, maxFeeBps);
      return {
        fair: amount,
        amountOut: amount - service - gas,
        minOut: leastAfterFees(amount, maxFeeBps),
      };
    },

    async prepareSweep(address, amount, { bps, flat }, { asOf, sources } = {}) {
      const routeData = chain.encodeTransferData({ bps, flat });
      return chain.buildSettle({
        commitment: address.commitment,
        token,
        route: contract,
        routeData,
        proof: proveRoute(address, { chainId: chain.chainId, contract }),
        amount,
        asOf,
        sources,
      });
    },

    // The sweep is the delivery, so no inventory is reserved.
    ...WITHOUT_INVENTORY,

    async readSweep(receipt, { wallet, commitment }) {
      for (const effect of receipt.effects) {
        if (effect.kind !== "settled" || effect.route !== contract) continue;
        if (effect.wallet !== wallet || effect.token !== token) continue;
        const { amount, logIndex, upTo } = effect;
        const minOut = leastAfterFees(amount, commitment.maxFeeBps);
        return { amount, logIndex, upTo, minOut, deliveryId: null };
      }
      return null;
    },

    recordSweep: async () => {},

    async checkDelivery({ address, sweep }, source) {
      if (!source) return { kind: "waiting" };
      const head = await chain.getHead();
      const confirmations = head.number - source.blockNumber + 1n;
      if (confirmations < BigInt(deliveryConfirmations)) return { kind: "waiting" };
      const paid = source.effects.find(
        (effect) =>
          effect.kind === "transferred" &&
          effect.wallet === address.wallet &&
          effect.token === address.destToken &&
          effect.to === address.destWallet,
      );
      if (paid?.kind !== "transferred" || paid.amount < sweep.minOut) return { kind: "waiting" };
      return { kind: "delivered", txHash: source.txHash, amount: paid.amount };
    },
  };
}
