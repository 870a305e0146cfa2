/** `MONO_CHAIN`: delivers on the chain of the deposit, in the same token or through a pool in another. */
import { deliveryConfirmationsOf } from "../../config/index.ts";
import { getChain, getChainConfig, getToken } from "../configured.ts";
import type { RouteModule } from "../module.ts";
import { poolOptionsOf } from "../pool-options.ts";
import { createMonoChainRoute, TRANSFER_GAS } from "./route.ts";
import { createPoolSwapRoute, SWAP_GAS } from "./swap.ts";
import { compareTerms } from "./doctor.ts";
import { definition, type MonoChainConfig } from "./config.ts";

export const monoChain: RouteModule<MonoChainConfig> = {
  kind: "MONO_CHAIN",
  definition,
  quoteSwitch: "monoChain",

  listGasSteps: ({ swap }) => (swap ? SWAP_GAS : TRANSFER_GAS),
  listBuilt: ({ swap }) => [swap ? "swapRoute" : "transferRoute"],
  compareTerms,

  create(route, deps) {
    const { config } = deps;
    const { chainId, token, contract, swap } = route;
    const chain = getChain(deps.chains, chainId);
    const deliveryConfirmations = deliveryConfirmationsOf(getChainConfig(config, chainId));
    if (swap) {
      return createPoolSwapRoute({
        ...poolOptionsOf(route, swap, deps),
        chain,
        deliveryConfirmations,
      });
    }
    const { decimals } = getToken(config, chainId, token);
    return createMonoChainRoute({ chain, token, decimals, contract, deliveryConfirmations });
  },
};
