/** Checks of the contracts of the configured routes. */
import type { RouteConfig } from "../config/index.ts";
import { toEvmAddress } from "../core/hex.ts";
import { type Check, judgeListed, judgeSame } from "../core/check.ts";
import { describeRoute } from "../routes/index.ts";
import { checkCode, type Place } from "./code.ts";

const WRONG_ROUTE =
  "Correct the route's contract or its pair: the contract accepts only its own pair.";

/** Checks that a route's contract is of this build, listed by the factory, and deployed for the configured pair. */
export function checkRoute(
  place: Place,
  { route, factoryCode }: { readonly route: RouteConfig; readonly factoryCode: Check },
): readonly Check[] {
  const { chain, inspector, subject, deps } = place;
  const item = describeRoute(deps.config, route);
  const contract = toEvmAddress(route.contract);
  const module = deps.moduleOf(route);
  const code = checkCode(place, {
    name: item,
    address: contract,
    built: module.listBuilt(route),
  });
  const listed: Check = {
    id: "route.listed",
    subject,
    item,
    needs: [factoryCode, code],
    run: async () =>
      judgeListed(await inspector.isRoute(chain.contracts.factory, contract), {
        expected: "a route that the factory lists",
        advice: `Have the owner add the route ${deps.display(contract)} and wait out the delay.`,
      }),
  };
  const terms: Check = {
    id: "route.terms",
    subject,
    item,
    needs: [code],
    run: async () => {
      const { config, display } = deps;
      const compared = await module.compareTerms({ chain, inspector, config, display }, route);
      return judgeSame(compared, WRONG_ROUTE);
    },
  };
  return [code, listed, terms];
}
