import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import { floorAmount, type Minimums } from "../deposits/index.ts";
import type { SettlementDeps } from "../settlements/index.ts";
import { type RoleContext, TOPICS } from "./context.ts";
import { createConfiguredFees } from "./fees.ts";

/** How often waiting work is looked at when nothing wakes it, in milliseconds. */
export const POLL_MS = 500;

/**
 * What the settlement steps work with. The scanner uses it too, to turn arrived value into settlements; it has no lane.
 */
export function createSettlementDeps(
  context: RoleContext,
  lanes: SettlementDeps["lanes"],
): SettlementDeps {
  const { wakeups, format } = context;
  return {
    db: context.db,
    clock: context.clock,
    random: context.random,
    log: context.log,
    chains: context.chains,
    routes: context.routes,
    fees: createConfiguredFees(context),
    displayAddress: format.display,
    metrics: context.watch.metrics,
    lanes,
    readMinimums: createMinimums(context),
    wakeEvents(integratorId) {
      wakeups.wake(TOPICS.events, integratorId);
      wakeups.wake(TOPICS.settlements);
    },
    wakeLanes: () => wakeups.wake(TOPICS.lanes),
    pollMs: POLL_MS,
  };
}

/** What a balance must reach, from the configuration and the prices of now. */
export function createMinimums({
  config,
  prices,
  log,
}: Pick<RoleContext, "config" | "prices" | "log">): SettlementDeps["readMinimums"] {
  return async (chainId: number, address: Address): Promise<Minimums> => {
    const chain = config.chains.find((known) => known.chainId === chainId);
    const token = chain?.tokens.find((known) => known.address === address);
    const minimum = token?.minDeposit;
    // What has no source of prices is never priced: nothing is asked of it.
    if (!chain || !token?.price || chain.minDepositUsd === undefined) {
      return { token: minimum, floor: undefined };
    }
    try {
      const priceUsd = await prices.readUsd({ chainId, token: address });
      const { decimals } = token;
      const floor = floorAmount({ floorUsd: chain.minDepositUsd, priceUsd, decimals });
      return { token: minimum, floor };
    } catch (error) {
      if (!(error instanceof OperatingError) || error.code !== "PRICE_UNAVAILABLE") throw error;
      log.warn({ err: error, chainId, token: address }, "no price for the floor");
      return { token: minimum, floor: "unpriced" };
    }
  };
}
