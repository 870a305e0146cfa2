/** The pairs and priced routes for which an attestor may sign. */
import type { RouteConfig } from "../../config/index.ts";
import { deliveryIdOfPayout, hashCommitment } from "../../chains/evm/commitment.ts";
import { type EvmAddress, padAddress } from "../../core/hex.ts";
import type { AttestorRules } from "../guard.ts";
import { SignerRefusal } from "../refusal.ts";

/** Creates the policy from the configuration: payouts on pairs paid from inventory, prices of priced routes. */
export function createEvmAttestorPolicy(options: {
  /** By bridge chain id. */
  readonly chains: ReadonlyMap<number, { readonly factory: EvmAddress }>;
  readonly routes: readonly RouteConfig[];
}): Omit<AttestorRules, "payoutWindowS"> {
  const { chains } = options;
  const fromInventory = options.routes.filter((route) => route.fromInventory);
  const priced = options.routes.filter(({ pricedIn }) => pricedIn !== null);
  return {
    identify(destChain, order) {
      const chain = chains.get(destChain);
      if (!chain)
        throw new SignerRefusal(`delivery to chain ${destChain}, which is not configured`);
      return {
        deliveryId: deliveryIdOfPayout(chain.factory, order),
        commitment: hashCommitment(order.commitment),
      };
    },
    isPair: (destChain, { srcChain, srcToken, commitment }) =>
      fromInventory.some(
        (route) =>
          route.chainId === srcChain &&
          route.token === srcToken &&
          route.destChain === destChain &&
          padAddress(route.destToken) === commitment.destToken,
      ),
    isPricedRoute: (srcChain, token, contract) =>
      priced.some(
        (route) =>
          route.chainId === srcChain && route.token === token && route.contract === contract,
      ),
  };
}
