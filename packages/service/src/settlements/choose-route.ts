/** Which route a settlement takes. */
import type { DepositAddress } from "../addresses/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Route } from "../routes/index.ts";
import type { SettlementDeps } from "./deps.ts";
import type { Settlement } from "./types.ts";

/** The preferred enabled route of the settlement's pair. */
export function chooseRoute(
  deps: SettlementDeps,
  settlement: Settlement,
  address: DepositAddress,
): Route {
  const [route] = deps.routes.list(pairOf(settlement, address));
  if (route) return route;
  throw new OperatingError("NO_ROUTE", "No enabled route delivers this pair right now.", {
    details: { destChain: address.destChain },
  });
}

/** The route by which the settlement's open sweep was sent. */
export function usedRoute(
  deps: SettlementDeps,
  settlement: Settlement,
  address: DepositAddress,
): Route {
  const route = settlement.route && deps.routes.find(pairOf(settlement, address), settlement.route);
  if (route) return route;
  throw new OperatingError("CONFIG_MISSING", "The route of this settlement is not configured.", {
    details: { route: settlement.route ?? "none" },
  });
}

function pairOf(settlement: Settlement, address: DepositAddress) {
  return {
    srcChain: settlement.chainId,
    srcToken: settlement.token,
    destChain: address.destChain,
    destToken: address.destToken,
  };
}
