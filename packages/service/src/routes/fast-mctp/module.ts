/** `FAST_MCTP`: USDC over Circle's CCTP v2, deposited directly or bought in a pool. */
import { deliveryConfirmationsOf, listEvmChains } from "../../config/index.ts";
import { getChain, getToken, missing } from "../configured.ts";
import type { RouteModule } from "../module.ts";
import { poolOptionsOf } from "../pool-options.ts";
import { BRIDGE_GAS, createFastMctpRoute } from "./route.ts";
import { bridgeAudit } from "./audit.ts";
import { bridgeGauges } from "./gauges.ts";
import { createTransfersPoll, type RelayDeps } from "./relay.ts";
import { TRANSFERS, wakeOfSettlements } from "./store.ts";
import { createSwapMctpRoute, SWAP_BRIDGE_GAS } from "./swap.ts";
import { checkService, compareTerms } from "./doctor.ts";
import { definition, type BridgeConfig } from "./config.ts";

export const fastMctp: RouteModule<BridgeConfig> = {
  kind: "FAST_MCTP",
  definition,
  quoteSwitch: "fastMctp",

  listGasSteps: ({ swap }) => (swap ? SWAP_BRIDGE_GAS : BRIDGE_GAS),
  listBuilt: ({ swap }) => [swap ? "swapCctpRoute" : "cctpRoute"],
  compareTerms,
  checkService,
  audit: bridgeAudit,
  gauges: bridgeGauges,

  create(route, deps) {
    const { config, db, clock, random, chains, attestations } = deps;
    const { chainId, token, destChain, destToken, contract, swap } = route;
    if (!attestations) throw missing("attestation service", chainId);
    const bridge = {
      db,
      clock,
      random,
      source: getChain(chains, chainId),
      destination: getChain(chains, destChain),
      destToken,
      contract,
      attestations,
    };
    if (swap) return createSwapMctpRoute({ ...bridge, ...poolOptionsOf(route, swap, deps) });
    const { decimals } = getToken(config, chainId, token);
    return createFastMctpRoute({ ...bridge, token, decimals });
  },
  /** One loop per destination of the bridge. */
  listSettlerWorkers({ config, attestations, ...deps }) {
    if (!attestations) return [];
    const relay: RelayDeps = {
      ...deps,
      attestations,
      lanes: new Map([...deps.lanes].map(([chainId, { deliver }]) => [chainId, deliver])),
      deliveryConfirmations: new Map(
        config.chains.map((chain) => [chain.chainId, deliveryConfirmationsOf(chain)]),
      ),
    };
    return listEvmChains(config)
      .filter(({ cctp }) => cctp)
      .map(({ chainId }) => ({
        name: `bridge transfers to chain ${chainId}`,
        queue: { name: TRANSFERS, chainId },
        poll: createTransfersPoll(relay, chainId),
      }));
  },

  queue: TRANSFERS,
  wakeOfSettlements,
};
