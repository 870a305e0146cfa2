/**
 * The auditor: per chain, one loop that compares the ledger with final state, and one that watches what the contracts' owner
 * and guardian change. Holds no key and sends nothing.
 */
import type { Chains } from "../chains/port/index.ts";
import type { Config } from "../config/index.ts";
import type { Clock } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import { createGovernanceWatch } from "../governance/index.ts";
import { auditChain, type AuditDeps } from "../ledger/index.ts";
import type { Log } from "../telemetry/log.ts";
import type { Parts, RunningRole } from "./context.ts";
import { startRoleLoop, startSideLoop } from "./health.ts";
import { getChain, ROUTE_AUDITS } from "../routes/index.ts";

/** Interval of a chain's audit, in milliseconds. A theft is found after at most this time and the chain's finality. */
const AUDIT_POLL_MS = 30_000;

/** Interval of the watch, in milliseconds: short beside a delay of days, and two requests each. */
const GOVERNANCE_POLL_MS = 600_000;

/** Parts of the auditor. */
export const AUDITOR_PARTS = ["config", "db", "clock", "log", "health", "chains"] as const;

/** Starts one loop per chain, so that a chain whose node is down does not delay the audit of the others. */
export function startAuditor(context: Parts<(typeof AUDITOR_PARTS)[number]>): RunningRole {
  const loops = createAudits(context).map((deps) =>
    startRoleLoop(context, "auditor", {
      name: `audit of chain ${deps.chain.chainId}`,
      intervalMs: AUDIT_POLL_MS,
      async poll() {
        await auditChain(deps, "next");
        return false;
      },
    }),
  );
  const watches = [...context.chains.values()].flatMap((chain) => {
    const log = context.log.child({ chainId: chain.chainId });
    const watch = createGovernanceWatch({ ...context, chain, log });
    if (!watch) return [];
    const name = `governance of chain ${chain.chainId}`;
    return startSideLoop(context, { name, intervalMs: GOVERNANCE_POLL_MS, log, poll: watch.poll });
  });
  return {
    async stop() {
      await Promise.all([...loops, ...watches].map((loop) => loop.stop()));
    },
  };
}

/** Returns the dependencies of the audit of each configured chain. */
export function createAudits(context: {
  readonly config: Config;
  readonly db: Db;
  readonly chains: Chains;
  readonly clock: Clock;
  readonly log: Log;
}): AuditDeps[] {
  const { config, db, chains, clock } = context;
  return config.chains.map(({ chainId, tokens }) => ({
    db,
    chain: getChain(chains, chainId),
    chains,
    routes: ROUTE_AUDITS,
    tokens: tokens.map(({ address }) => address),
    clock,
    log: context.log.child({ chainId }),
  }));
}
