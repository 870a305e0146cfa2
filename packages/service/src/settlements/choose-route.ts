/** Which route a settlement takes. */
import type { Holding } from "../deposits/index.ts";
import type { DepositAddress } from "../addresses/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Pair, Route } from "../routes/index.ts";
import type { SettlementDeps } from "./deps.ts";
import type { Settlement } from "./types.ts";

/** The enabled routes of the settlement's pair, the preferred first. */
export function listRoutes(
  deps: SettlementDeps,
  settlement: Settlement,
  address: DepositAddress,
): readonly [Route, ...Route[]] {
  const [route, ...others] = deps.routes.list(pairOf(settlement, address));
  if (route) return [route, ...others];
  throw new OperatingError("NO_ROUTE", "No enabled route delivers this pair right now.", {
    details: { destChain: address.destChain },
  });
}

/**
 * Takes the first route that can do it. What one says of the deposit or of itself sends it to the next; when none can,
 * the deposit waits for the preferred one.
 * @throws what the preferred route threw.
 */
export async function takeFirst<T>(
  [preferred, ...others]: readonly [Route, ...Route[]],
  take: (route: Route) => Promise<T>,
): Promise<T> {
  try {
    return await take(preferred);
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    for (const route of others) {
      try {
        return await take(route);
      } catch (another) {
        if (!(another instanceof OperatingError)) throw another;
      }
    }
    throw error;
  }
}

/** The route by which the settlement's open sweep was sent. */
export function usedRoute(
  deps: SettlementDeps,
  settlement: Settlement,
  address: DepositAddress,
): Route {
  const { route: kind, routeContract } = settlement;
  const route = kind && deps.routes.find(pairOf(settlement, address), kind, routeContract);
  if (route) return route;
  throw new OperatingError("CONFIG_MISSING", "The route of this settlement is not configured.", {
    details: { route: kind ?? "none" },
  });
}

/** Returns the pair that a holding is delivered by. */
export function pairOf(
  { chainId, token }: Pick<Holding, "chainId" | "token">,
  { destChain, destToken }: Pick<DepositAddress, "destChain" | "destToken">,
): Pair {
  return { srcChain: chainId, srcToken: token, destChain, destToken };
}
