/** The scanner: one loop per chain that turns blocks into deposits. Holds no key. */
import { startLoop } from "../jobs/loop.ts";
import { lookAtChain } from "../scanner/index.ts";
import { getChain, type RoleContext, type RunningRole } from "./context.ts";
import { createSettlementDeps } from "./settlement-deps.ts";

export function startScanner(context: RoleContext): RunningRole {
  const { db, clock, config } = context;
  const settlements = createSettlementDeps(context, new Map());
  const loops = config.chains.map((chain) => {
    const log = context.log.child({ chainId: chain.chainId });
    const deps = {
      db,
      chain: getChain(context.chains, chain.chainId),
      tokens: chain.tokens.map((token) => token.address),
      startBlock: BigInt(chain.startBlock),
      settlements,
      clock,
      log,
    };
    return startLoop({
      name: `scanner of chain ${chain.chainId}`,
      intervalMs: chain.pollIntervalMs,
      clock,
      log,
      look: () => lookAtChain(deps),
    });
  });
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
