/** Chooses the route of a settlement. */
import type { Holding } from "../deposits/index.ts";
import { type DepositAddress, isCommitted } from "../addresses/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Pair, Route } from "../routes/index.ts";
import type { SettlementDeps } from "./deps.ts";
import { paused, readPausedRoutes } from "./operator/pauses.ts";
import type { Settlement } from "./types.ts";

/**
 * Returns the enabled routes of the settlement's pair to which the address commits, the preferred one first, without paused
 * ones.
 * @throws OperatingError NO_ROUTE when there is none; CONFIG_MISSING when the settlement or all of its routes are paused.
 */
export async function listRoutes(
  deps: SettlementDeps,
  settlement: Settlement,
  address: DepositAddress,
): Promise<readonly [Route, ...Route[]]> {
  const pausedKinds = await readPausedRoutes(deps.db, settlement);
  const enabled = deps.routes.list(pairOf(settlement, address));
  const committed = enabled.filter(({ contract }) =>
    isCommitted(address, { chainId: settlement.chainId, contract }),
  );
  const [route, ...others] = committed.filter(({ kind }) => !pausedKinds.has(kind));
  if (route) return [route, ...others];
  if (committed.length > 0) throw paused("route");
  const details = { destChain: address.destChain };
  if (enabled.length === 0) {
    throw new OperatingError("NO_ROUTE", "No enabled route delivers this pair right now.", {
      details,
    });
  }
  throw new OperatingError("NO_ROUTE", "The address does not commit to an enabled route.", {
    details: { ...details, reason: "route_not_committed" },
  });
}

/**
 * Tries the routes in order and returns the first success. An operating error of one route moves on to the next; any
 * other error is thrown at once.
 * @throws the error of the preferred route when every route fails: the deposit waits for that one.
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

/** Returns the route of the settlement's last planned sweep. Throws CONFIG_MISSING when it is no longer configured. */
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

/** Returns the pair of tokens that a holding settles between. */
export function pairOf(
  { chainId, token }: Pick<Holding, "chainId" | "token">,
  { destChain, destToken }: Pick<DepositAddress, "destChain" | "destToken">,
): Pair {
  return { srcChain: chainId, srcToken: token, destChain, destToken };
}
