import { OperatingError } from "../core/errors.ts";
import type { SettlementDeps } from "./deps.ts";
import type { Settlement } from "./types.ts";

/**
 * Checks the minimums again before gas is spent on a balance: the gate passes balances that it cannot price, and a token
 * may reduce balances by itself.
 * @throws OperatingError AMOUNT_TOO_SMALL when the balance is below the token's minimum or below half of the chain's
 *   floor; PRICE_UNAVAILABLE while the floor cannot be priced.
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
    throw new OperatingError(
      "PRICE_UNAVAILABLE",
      "No price is available to compare the minimum with.",
      {
        details: { chainId: settlement.chainId },
      },
    );
  }
  // A balance that passed the gate may lose up to half its value to a price movement; less was never priced there.
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
