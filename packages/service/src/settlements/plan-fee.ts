/** Plans the fee terms of a settlement at current costs. */
import type { DepositAddress } from "../addresses/index.ts";
import type { FeeTerms } from "../fees/index.ts";
import type { Route } from "../routes/index.ts";
import { chainOf, type SettlementDeps } from "./deps.ts";
import type { Settlement } from "./types.ts";
import { readDeployed } from "./wallet-state.ts";

/**
 * Returns the fee terms of a sweep of `amount`, in base units of the source token. The wallet's deployment is included
 * if this settlement sent it or still needs it.
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
    deploys: async () =>
      deploysSent > 0 || (await readDeployed(chainOf(deps, settlement), wallet)) === false,
  });
}
