/** Check of the sets of routes that issued addresses commit to. */
import { listEvmChains } from "../config/index.ts";
import { type Check, judge, ok } from "../core/check.ts";
import { toEvmAddress } from "../core/hex.ts";
import { type DoctorDeps, type IssuedRouteSet, subjectOf } from "./facts.ts";

const EXPECTED = "of each set, a listed and configured route on every chain";
/** Sets that the report names. */
const NAMED_MAX = 5;

/**
 * Checks that addresses with a set of routes can still be settled. Without a listed route of its set an address can only be
 * refunded, and a deposit on a chain that the set does not cover too.
 */
export function checkRouteSets(deps: DoctorDeps, needs: readonly Check[]): Check {
  return {
    id: "addresses.routes",
    subject: "every chain",
    needs,
    async run() {
      const sets = await deps.listRouteSets();
      if (sets.length === 0) return ok("no address commits to routes", EXPECTED);
      const covered = await Promise.all(sets.map((set) => listCovered(deps, set)));
      const chains = listEvmChains(deps.config);
      const gaps = sets.flatMap((set, index) => {
        const missing = chains.filter(({ chainId }) => !covered[index]?.has(chainId));
        if (missing.length === 0) return [];
        const where = missing.length === chains.length ? "any chain" : missing.map(subjectOf);
        return [{ isDead: missing.length === chains.length, text: describe(set, String(where)) }];
      });
      const dead = gaps.filter(({ isDead }) => isDead);
      const shown = [...dead, ...gaps.filter(({ isDead }) => !isDead)].slice(0, NAMED_MAX);
      return judge(gaps.length === 0, {
        found:
          gaps.length === 0
            ? `${sets.length} sets`
            : `${gaps.length} of ${sets.length} sets: ${shown.map(({ text }) => text).join("; ")}`,
        expected: EXPECTED,
        advice:
          "Configure and list a route of the set again; deposits without one can only be refunded. Issue new addresses for routes that the set never held.",
        otherwise: dead.length > 0 ? "problem" : "warning",
      });
    },
  };
}

function describe({ root, addresses }: IssuedRouteSet, where: string): string {
  return `${root} (${addresses} addresses) has no route on ${where}`;
}

/** Returns the configured chains on which a route of the set is configured and listed. */
async function listCovered(
  { config, nodesOf }: DoctorDeps,
  { routeSet }: IssuedRouteSet,
): Promise<ReadonlySet<number>> {
  const chains = new Map(listEvmChains(config).map((chain) => [chain.chainId, chain]));
  const usable = await Promise.all(
    routeSet.map(async ({ chainId, route }) => {
      const chain = chains.get(chainId);
      const isConfigured = config.routes.some(
        (known) => known.chainId === chainId && known.contract === route,
      );
      if (!chain || !isConfigured) return [];
      const { service } = nodesOf(chainId);
      const isListed = await service.isRoute(chain.contracts.factory, toEvmAddress(route));
      return isListed ? [chainId] : [];
    }),
  );
  return new Set(usable.flat());
}
