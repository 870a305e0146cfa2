/** What a settlement costs the deposit, as things are now. */
import type { DepositAddress } from "../addresses/index.ts";
import type { FeeTerms } from "../fees/index.ts";
import type { Route } from "../routes/index.ts";
import { chainOf, type SettlementDeps } from "./deps.ts";
import type { Settlement } from "./types.ts";

/**
 * The terms of a sweep of `amount`. A deployment that was sent for this settlement is part of its cost, as is one that
 * it still needs.
 * @throws OperatingError as `Fees.plan` does.
 */
export function planFee(
  deps: SettlementDeps,
  settlement: Settlement,
  args: { readonly address: DepositAddress; readonly route: Route; readonly amount: bigint },
): Promise<FeeTerms> {
  const { address, route, amount } = args;
  const { integratorId, wallet, deploysSent } = settlement;
  return deps.fees.plan({
    integratorId,
    route,
    amount,
    maxFeeBps: address.commitment.maxFeeBps,
    deploys: async () => deploysSent > 0 || !(await chainOf(deps, settlement).hasCode(wallet)),
  });
}
