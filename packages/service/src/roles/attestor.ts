/** The attestor: the second key. It reads the chains through its own nodes and answers requests for attestations. */
import type { Chains } from "../chains/port/index.ts";
import { ROUTE_MODULES } from "../routes/index.ts";
import type { AttestorSigner } from "../signers/port.ts";
import { type Parts, type RunningRole, TOPICS } from "./context.ts";
import { createConfiguredPrices } from "./prices.ts";
import { createBelowMinimum, POLL_MS } from "./settlement-deps.ts";
import { startRoleLoop } from "./health.ts";

/** Parts of the attestor. It shares neither readers nor prices with the other roles. */
export const ATTESTOR_PARTS = [
  "config",
  "db",
  "clock",
  "log",
  "health",
  "crashPoint",
  "wakeups",
  "http",
] as const;

/** Starts the attestor over its own readers. */
export function startAttestor(
  context: Parts<(typeof ATTESTOR_PARTS)[number]>,
  signer: AttestorSigner,
  { chains, endingChains }: { readonly chains: Chains; readonly endingChains: Chains },
): RunningRole {
  const { config, db, clock, log, wakeups, http } = context;
  // Separate prices, read over the attestor's nodes with separate HTTP calls.
  const { metrics } = context.health;
  const prices = createConfiguredPrices(config, { chains, http, clock, log, metrics });
  const isBelowMinimum = createBelowMinimum({ config, prices, log });
  const loops = ROUTE_MODULES.flatMap(
    (module) =>
      module.listAttestorWorkers?.({
        config,
        db,
        chains,
        endingChains,
        prices,
        isBelowMinimum,
        signer,
        clock,
        crashPoint: context.crashPoint,
        log,
        metrics,
        wakeSettler: (subject) => wakeups.wake(TOPICS.answers, subject),
      }) ?? [],
  ).map(({ kinds, ...worker }) => ({
    kinds,
    loop: startRoleLoop(context, "attestor", { ...worker, intervalMs: POLL_MS }),
  }));
  wakeups.on(TOPICS.attestations, (kind) => {
    for (const { kinds, loop } of loops) {
      // An earlier version wakes all.
      if (kind === undefined || kinds?.includes(kind)) loop.wake();
    }
  });
  return {
    async stop() {
      await Promise.all(loops.map(({ loop }) => loop.stop()));
    },
  };
}
