import { OperatingError } from "../core/errors.ts";
import type { SettlementDeps } from "./deps.ts";
import type { Settlement } from "./types.ts";

/**
 * Before anything is spent on a balance it is weighed again: what could not be priced was queued all the same, and a
 * token may take back what it gave.
 * @throws OperatingError AMOUNT_TOO_SMALL for what is below the token's minimum by now, or what the floor of its chain
 *   turns out to refuse; PRICE_UNAVAILABLE while there is no price for the floor.
 */
export async function assertWorthwhile(
  deps: SettlementDeps,
  settlement: Settlement,
  balance: bigint,
): Promise<void> {
  const { token, floor } = await deps.readMinimums(settlement.chainId, settlement.token);
  if (token !== undefined && balance < token) {
    throw tooSmall("The balance is below the token's minimum.", { balance, minimum: token });
  }
  if (floor === undefined) return;
  if (floor === "unpriced") {
    throw new OperatingError("PRICE_UNAVAILABLE", "There is no price to compare the floor with.", {
      details: { chainId: settlement.chainId },
    });
  }
  // It was worth it when it was queued: half is what a price moves meanwhile, less was never weighed.
  if (balance * 2n < floor) {
    throw tooSmall("The balance is below the chain's minimum.", { balance, minimum: floor });
  }
}

function tooSmall(
  message: string,
  { balance, minimum }: { readonly balance: bigint; readonly minimum: bigint },
): OperatingError {
  return new OperatingError("AMOUNT_TOO_SMALL", message, {
    details: { balance: balance.toString(), minimum: minimum.toString() },
  });
}
