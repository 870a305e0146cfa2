import type { EvmAddress } from "../core/hex.ts";
import type { SettlementDeps } from "../settlements/index.ts";
import { type RoleContext, TOPICS } from "./context.ts";

/** How often waiting work is looked at when nothing wakes it, in milliseconds. */
export const POLL_MS = 500;

/**
 * What the settlement steps work with. The scanner uses it too, to turn arrived value into settlements; it has no lane.
 */
export function createSettlementDeps(
  context: RoleContext,
  lanes: SettlementDeps["lanes"],
): SettlementDeps {
  const { config, wakeups, format } = context;
  const minimums = new Map<string, bigint | undefined>(
    config.chains.flatMap((chain) =>
      chain.tokens.map((token) => [keyOf(chain.chainId, token.address), token.minDeposit] as const),
    ),
  );
  return {
    db: context.db,
    clock: context.clock,
    random: context.random,
    log: context.log,
    chains: context.chains,
    routes: context.routes,
    displayAddress: format.display,
    lanes,
    minDepositOf: (chainId, token) => minimums.get(keyOf(chainId, token)),
    wakeEvents(integratorId) {
      wakeups.wake(TOPICS.events, integratorId);
      wakeups.wake(TOPICS.settlements);
    },
    wakeLanes: () => wakeups.wake(TOPICS.lanes),
    pollMs: POLL_MS,
  };
}

function keyOf(chainId: number, token: EvmAddress): string {
  return `${chainId}:${token}`;
}
