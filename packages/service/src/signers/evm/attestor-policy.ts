/** Which pairs an attestor speaks for. */
import type { RouteConfig } from "../../config/load.ts";
import { deliveryIdOfOrder, hashCommitment } from "../../chains/evm/commitment.ts";
import { type EvmAddress, padAddress } from "../../core/hex.ts";
import type { AttestorRules } from "../guard.ts";
import { SignerRefusal } from "../refusal.ts";

/** The pairs of the configured routes from inventory, on the factories of their chains. */
export function createEvmAttestorPolicy(options: {
  /** By bridge chain id. */
  readonly chains: ReadonlyMap<number, { readonly factory: EvmAddress }>;
  readonly routes: readonly RouteConfig[];
}): Omit<AttestorRules, "payoutWindowS"> {
  const { chains } = options;
  const routes = options.routes.filter((route) => route.kind === "SWIFT");
  return {
    identify(destChain, order) {
      const chain = chains.get(destChain);
      if (!chain) throw new SignerRefusal(`a delivery to chain ${destChain}, which it lacks`);
      return {
        deliveryId: deliveryIdOfOrder(chain.factory, order),
        commitment: hashCommitment(order.commitment),
      };
    },
    isPair: (destChain, { srcChain, srcToken, commitment }) =>
      routes.some(
        (route) =>
          route.chainId === srcChain &&
          route.token === srcToken &&
          route.destChain === destChain &&
          padAddress(route.destToken) === commitment.destToken,
      ),
    isPricedRoute: (srcChain, token, contract) =>
      routes.some(
        (route) =>
          route.priced &&
          route.chainId === srcChain &&
          route.token === token &&
          route.contract === contract,
      ),
  };
}
