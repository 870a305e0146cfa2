/** Checks of the configuration, the keys and the terms: they need no node and no database. */
import { type Config, listEvmChains, type RouteConfig } from "../config/index.ts";
import { feeOf, minOutOf } from "../core/amounts.ts";
import type { Address } from "../core/hex.ts";
import { type Check, type CheckResult, judge, ok } from "../core/check.ts";
import { describeRoute, getToken } from "../routes/index.ts";
import { type DoctorDeps } from "./facts.ts";

const SUBJECT = "configuration";
const LOADS = { id: "config.loads", subject: SUBJECT, expected: "every setting is understood" };

/** The results when the configuration itself cannot be used: each problem, and nothing else was looked at. */
export function refuseConfiguration(problems: readonly string[]): readonly CheckResult[] {
  const advice = "Correct the setting; docs/configuration.md describes each.";
  return problems.map((found) => ({ ...LOADS, status: "problem", found, advice }));
}

export function checkConfiguration(deps: DoctorDeps): readonly Check[] {
  const { config } = deps;
  const loads: Check = {
    ...LOADS,
    needs: [],
    run: () => ok(`${config.chains.length} chains, ${config.routes.length} routes`, LOADS.expected),
  };
  return [
    loads,
    checkSecretFiles(deps),
    checkKeys(deps),
    checkFee(config),
    ...config.routes.flatMap((route) => checkMinimum(config, route)),
  ];
}

function checkSecretFiles({ secretFiles }: DoctorDeps): Check {
  return {
    id: "config.secret-files",
    subject: SUBJECT,
    needs: [],
    run() {
      const open = secretFiles.filter(({ isOpenToOthers }) => isOpenToOthers);
      return judge(open.length === 0, {
        found: open.length === 0 ? `${secretFiles.length} closed files` : listOpen(open),
        expected: "files that only their owner may read",
        advice: `Run chmod 600 ${open.map(({ path }) => path).join(" ")}`,
      });
    },
  };
}

function listOpen(open: DoctorDeps["secretFiles"]): string {
  return `others may use the files of ${open.map(({ setting }) => setting).join(", ")}`;
}

/** The same account on several chains has a sequence of nonces on each, so only keys of one chain are compared. */
function checkKeys(deps: DoctorDeps): Check {
  return {
    id: "keys.distinct",
    subject: SUBJECT,
    needs: [],
    run() {
      const shared = listEvmChains(deps.config).flatMap(({ chainId }) => {
        const attestor = { name: "attestor", address: deps.attestor };
        return listShared([...deps.lanesOf(chainId), attestor]).map(
          (names) => `${names.join(" and ")} of chain ${chainId}`,
        );
      });
      return judge(shared.length === 0, {
        found: shared.length === 0 ? "every key has an account of its own" : shared.join(", "),
        expected: "a key for each lane of a chain, and another for the attestor",
        advice: "Make a new key for one of them, and list its account in the contracts.",
      });
    },
  };
}

/** Names that share an account, together. */
function listShared(
  accounts: readonly { readonly name: string; readonly address: Address }[],
): readonly string[][] {
  const byAddress = Map.groupBy(accounts, ({ address }) => address);
  return [...byAddress.values()]
    .filter((sharing) => sharing.length > 1)
    .map((sharing) => sharing.map(({ name }) => name));
}

function checkFee({ feeBps, maxFeeBps }: Config): Check {
  return {
    id: "terms.fee",
    subject: SUBJECT,
    needs: [],
    run: () =>
      judge(feeBps <= maxFeeBps, {
        found: `feeBps ${feeBps}`,
        expected: `at most maxFeeBps, ${maxFeeBps}`,
        advice: "Lower feeBps: no address allows more than its cap.",
      }),
  };
}

/** Whether the smallest deposit that settles by a route is worth settling. */
function checkMinimum(config: Config, route: RouteConfig): readonly Check[] {
  const token = getToken(config, route.chainId, route.token);
  const { destChain, destToken } = route;
  const destination = getToken(config, destChain, destToken);
  const { minDeposit, minDepositUnits, decimals } = token;
  const name = {
    subject: SUBJECT,
    item: describeRoute(config, route),
    needs: [],
  };
  const minimum: Check = {
    ...name,
    id: "terms.minimum",
    run() {
      if (minDeposit === undefined) {
        return judge(false, {
          found: "no minDeposit",
          expected: "a minimum above the cost of settling",
          advice: "Set minDeposit of the token: anybody can make you pay gas for a dust deposit.",
          otherwise: "warning",
        });
      }
      const minOut = minOutOf({
        amount: minDeposit,
        maxFeeBps: config.maxFeeBps,
        decimalsIn: decimals,
        decimalsOut: destination.decimals,
      });
      const fee = feeOf(minDeposit, config.feeBps);
      return judge(minOut > 0n && (fee > 0n || config.feeBps === 0), {
        found: `minDeposit ${minDepositUnits} pays at least ${minOut} and a fee of ${fee} base units`,
        expected: "more than zero of both",
        advice: "Raise minDeposit of the token: the contracts refuse a payout of zero.",
      });
    },
  };
  return [minimum];
}
