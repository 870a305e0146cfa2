/** The attestor: the second key. It reads the chains through nodes of its own and answers requests. */
import type { Chains } from "../chains/port.ts";
import { destinationOf, isPriced } from "../config/destinations.ts";
import { getToken, lookAtRequests, rateOf } from "../routes/index.ts";
import type { AttestorSigner } from "../signers/port.ts";
import { type RoleContext, type RunningRole, TOPICS } from "./context.ts";
import { createConfiguredPrices } from "./prices.ts";
import { POLL_MS } from "./settlement-deps.ts";
import { startRoleLoop } from "./health.ts";

/** Starts the attestor over readers of its own. */
export function startAttestor(
  context: RoleContext,
  signer: AttestorSigner,
  chains: Chains,
): RunningRole {
  const { config, db, clock, log, wakeups, http } = context;
  // Its own prices, over its own nodes and with its own calls.
  const { metrics } = context.watch;
  const prices = createConfiguredPrices(config, { chains, http, clock, log, metrics });
  const pairs = config.routes.map((route) => {
    const destination = destinationOf(route);
    return {
      srcChain: route.chainId,
      srcToken: route.token,
      destChain: destination.chainId,
      destToken: destination.token,
      contract: route.contract,
      fromInventory: route.kind === "SWIFT",
      readRate: isPriced(route) ? rateOf(prices, route) : null,
      decimalsIn: getToken(config, route.chainId, route.token).decimals,
      decimalsOut: getToken(config, destination.chainId, destination.token).decimals,
    };
  });
  const loop = startRoleLoop(context, "attestor", {
    name: "attestor",
    intervalMs: POLL_MS,
    look: () =>
      lookAtRequests({
        db,
        chains,
        signer,
        clock,
        crashPoint: context.crashPoint,
        log,
        metrics: context.watch.metrics,
        payoutWindowS: config.payoutWindowS,
        pairs,
        wakeSettler: () => wakeups.wake(TOPICS.deliveries),
      }),
  });
  wakeups.on(TOPICS.attestations, () => loop.wake());
  return { stop: () => loop.stop() };
}
