/** The scanner: per chain, one loop turns blocks into deposits and one compares balances. Holds no key. */
import { startLoop } from "../jobs/loop.ts";
import { lookAtBalances, lookAtChain } from "../scanner/index.ts";
import { getChain, type RoleContext, type RunningRole } from "./context.ts";
import { createSettlementDeps } from "./settlement-deps.ts";

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
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
