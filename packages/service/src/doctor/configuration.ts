/** Checks of the configuration, the keys and the terms. They need neither a node nor the database. */
import { type Config, listEvmChains, partsOfExposure, type RouteConfig } from "../config/index.ts";
import { feeOf, formatUnits, minOutOf } from "../core/amounts.ts";
import type { Address } from "../core/hex.ts";
import { type Check, type CheckResult, judge, ok } from "../core/check.ts";
import { describeRoute, getToken } from "../routes/index.ts";
import { type DoctorDeps, subjectOf } from "./facts.ts";

const SUBJECT = "configuration";
const LOADS = { id: "config.loads", subject: SUBJECT, expected: "every setting is valid" };

/** Returns the report of an invalid configuration: one result per problem. No other check can run. */
export function refuseConfiguration(problems: readonly string[]): readonly CheckResult[] {
  const advice = "Correct the setting; docs/configuration.md describes each.";
  return problems.map((found) => ({ ...LOADS, status: "problem", found, advice }));
}

/** Returns the checks of the configuration's own consistency. */
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
    ...checkSpareAttestor(deps),
    ...checkClaimLanes(deps),
    ...checkEarlyPayouts(deps),
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
        found: open.length === 0 ? `${secretFiles.length} private files` : listOpen(open),
        expected: "files that only their owner can access",
        advice: `Run chmod 600 ${open.map(({ path }) => path).join(" ")}`,
      });
    },
  };
}

function listOpen(open: DoctorDeps["secretFiles"]): string {
  return `other users can access the files of ${open.map(({ setting }) => setting).join(", ")}`;
}

/** Compares the keys of each chain only: one account on two chains has a nonce sequence on each. */
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
        found: shared.length === 0 ? "every key has its own account" : shared.join(", "),
        expected: "a separate key for each lane of a chain and for the attestor",
        advice: "Create a new key for one of them, and list its account in the contracts.",
      });
    },
  };
}

/**
 * Checks that an attestor can be lost where inventory pays: a new one signs only after the owner's delay of days, while a
 * lock that was paid and not claimed can be taken back after 72 hours.
 */
function checkSpareAttestor({ config, attestor }: DoctorDeps): readonly Check[] {
  if (!config.routes.some(({ fromInventory }) => fromInventory)) return [];
  const { threshold, accounts, cold } = config.attestors;
  return [
    {
      id: "attestors.spare",
      subject: SUBJECT,
      needs: [],
      run() {
        const known = new Set([attestor, ...accounts, ...cold]);
        return judge(known.size > threshold, {
          found: `${known.size} attestor(s), of which ${threshold} must sign`,
          expected: `at least ${threshold + 1}`,
          advice:
            "Have the owner list a second attestor on every chain now, keep its key offline, and name it in attestors.cold: after a loss it would be too late.",
        });
      },
    },
  ];
}

/** Checks that claims have lanes of their own where deposits are locked: sweeps on the same lane can delay them. */
function checkClaimLanes(deps: DoctorDeps): readonly Check[] {
  const { routes } = deps.config;
  return listEvmChains(deps.config)
    .filter(({ chainId }) => routes.some((one) => one.fromInventory && one.chainId === chainId))
    .map((chain) => ({
      id: "lanes.claim",
      subject: subjectOf(chain),
      needs: [],
      run() {
        const lanes = deps.lanesOf(chain.chainId).filter(({ purpose }) => purpose === "claim");
        return judge(lanes.length > 0, {
          found: `${lanes.length} lane(s)`,
          expected: "a lane that only claims",
          advice:
            "Set lanes.claim of the chain, create its key with `sluice keys init`, fund its account, and have the owner make it a relayer of the factory.",
          otherwise: "warning",
        });
      },
    }));
}

/**
 * Checks that the exposure of early payouts is divided among all attestors: each counts what it signed itself, so that one that
 * the configuration does not list would sign a part of its own for a stolen settler.
 */
function checkEarlyPayouts({ config, attestor }: DoctorDeps): readonly Check[] {
  const { threshold, accounts, cold } = config.attestors;
  const parts = partsOfExposure(config.attestors);
  const all = accounts.length === 0 ? accounts : [...accounts, attestor];
  const needed = partsOfExposure({ threshold, cold, accounts: all });
  return listEvmChains(config).flatMap((chain) => {
    const { earlyPayouts } = chain;
    if (!earlyPayouts) return [];
    const usd = (worth: bigint) => `$${formatUnits(worth, 18)}`;
    const { exposure } = earlyPayouts;
    return [
      {
        id: "early.exposure",
        subject: subjectOf(chain),
        needs: [],
        run: () =>
          judge(needed <= parts, {
            found: `each attestor signs at most ${usd(exposure)} before finality: thieves of the settler and of all signatures but one could have ${usd(exposure * needed)} paid`,
            expected: `at most ${usd(exposure * parts)}, the exposure`,
            advice: "List every attestor in attestors.accounts.",
            otherwise: "warning",
          }),
      },
    ];
  });
}

/** Returns the groups of names that share an account. */
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
        advice: "Lower feeBps: an address never allows more than its committed cap.",
      }),
  };
}

/** Checks that the smallest deposit of a route leaves a payout and a fee after rounding. */
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
          expected: "a minimum above the cost of a settlement",
          advice: "Set minDeposit of the token: without it, anybody can make you pay gas for dust.",
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
        expected: "both above zero",
        advice: "Raise minDeposit of the token: the contracts refuse a payout of zero.",
      });
    },
  };
  return [minimum];
}
