/** The scanner: per chain, one loop turns blocks into deposits and one compares balances. Holds no key. */
import { maintainEvents } from "../events/index.ts";
import { startLoop } from "../jobs/loop.ts";
import { lookAtBalances, lookAtChain } from "../scanner/index.ts";
import { getChain, type RoleContext, type RunningRole } from "./context.ts";
import { createSettlementDeps } from "./settlement-deps.ts";

const RETENTION_POLL_MS = 3_600_000;

export function startScanner(context: RoleContext): RunningRole {
  const { db, clock, config } = context;
  const settlements = createSettlementDeps(context, new Map());
  const loops = config.chains.flatMap((chain) => {
    const log = context.log.child({ chainId: chain.chainId });
    const deps = {
      db,
      chain: getChain(context.chains, chain.chainId),
      tokens: chain.tokens.map((token) => token.address),
      traces: chain.traces,
      startBlock: BigInt(chain.startBlock),
      settlements,
      clock,
      crashPoint: context.crashPoint,
      log,
    };
    return [
      startLoop({
        name: `scanner of chain ${chain.chainId}`,
        intervalMs: chain.pollIntervalMs,
        clock,
        log,
        look: () => lookAtChain(deps),
      }),
      startLoop({
        name: `balances of chain ${chain.chainId}`,
        intervalMs: chain.balanceCheckIntervalMs,
        clock,
        log,
        look: () => lookAtBalances(deps),
      }),
    ];
  });
  // One process has this role, so one keeps the events.
  const retention = startLoop({
    name: "retention of events",
    intervalMs: RETENTION_POLL_MS,
    clock,
    log: context.log,
    async look() {
      const { made, dropped, deleted } = await maintainEvents(db, clock.now());
      if (made.length + dropped.length + deleted > 0) {
        context.log.info({ made, dropped, deleted }, "events were kept in order");
      }
      return false;
    },
  });
  loops.push(retention);
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
