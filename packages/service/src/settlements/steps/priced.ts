import { OperatingError } from "../../core/errors.ts";
import type { SettlementDeps } from "../deps.ts";
import type { Settlement } from "../types.ts";

/**
 * A balance that could not be priced was queued all the same; before anything is spent on it, it is.
 * @throws OperatingError PRICE_UNAVAILABLE while there is no price, AMOUNT_TOO_SMALL for what the floor of its chain
 *   turns out to refuse.
 */
export async function assertWorthwhile(
  deps: SettlementDeps,
  settlement: Settlement,
  balance: bigint,
): Promise<void> {
  const { floor } = await deps.readMinimums(settlement.chainId, settlement.token);
  if (floor === undefined) return;
  if (floor === "unpriced") {
    throw new OperatingError("PRICE_UNAVAILABLE", "There is no price to compare the floor with.", {
      details: { chainId: settlement.chainId },
    });
  }
  // It was worth it when it was queued: half is what a price moves meanwhile, less was never weighed.
  if (balance * 2n < floor) {
    throw new OperatingError("AMOUNT_TOO_SMALL", "The balance is below the chain's minimum.", {
      details: { balance: balance.toString(), minimum: floor.toString() },
    });
  }
}
