/** Checks that compare the chains with one another. */
import { type EvmChain, listEvmChains } from "../config/index.ts";
import type { EvmAddress } from "../core/hex.ts";
import { type Check, judge } from "../core/check.ts";
import { type DoctorDeps, subjectOf } from "./facts.ts";
import { checkRouteSets } from "./route-sets.ts";

const SUBJECT = "every chain";

export function checkEveryChain(
  deps: DoctorDeps,
  needs: {
    readonly identified: readonly Check[];
    readonly factories: readonly Check[];
    readonly migrated: Check;
  },
): readonly Check[] {
  const chains = listEvmChains(deps.config);
  return [
    checkFactoryAddress(deps),
    checkFactoryCode(deps, needs.factories),
    checkAuthorities(deps, {
      item: "owners",
      needs: needs.factories,
      list: () => listOwners(deps, chains),
    }),
    checkAuthorities(deps, {
      item: "refund authorities",
      needs: [...needs.identified, needs.migrated],
      list: deps.listRefundAuthorities,
    }),
    checkRouteSets(deps, [...needs.factories, needs.migrated]),
  ];
}

function checkFactoryAddress({ config, display }: DoctorDeps): Check {
  return {
    id: "factory.address",
    subject: SUBJECT,
    needs: [],
    run() {
      const addresses = [
        ...new Set(listEvmChains(config).map(({ contracts }) => contracts.factory)),
      ];
      return judge(addresses.length === 1, {
        found: addresses.map(display).join(", "),
        expected: "one address on every chain",
        advice: "Deploy the factory through the deterministic deployer with the same arguments.",
      });
    },
  };
}

/** Compares code hashes with their immutable values: owner, guardian and delay must be equal on every chain. */
function checkFactoryCode({ config, nodesOf }: DoctorDeps, needs: readonly Check[]): Check {
  return {
    id: "factory.code",
    subject: SUBJECT,
    needs,
    async run() {
      const hashes = await Promise.all(
        listEvmChains(config).map(({ chainId, contracts }) =>
          nodesOf(chainId).service.getCodeHash(contracts.factory),
        ),
      );
      const distinct = [...new Set(hashes)];
      return judge(distinct.length === 1, {
        found: distinct.join(", "),
        expected: "one code hash on every chain",
        advice: "Deploy the factory with the same arguments on every chain.",
      });
    },
  };
}

async function listOwners(
  { nodesOf }: DoctorDeps,
  chains: readonly EvmChain[],
): Promise<readonly EvmAddress[]> {
  const owners = await Promise.all(
    chains.map(async ({ chainId, contracts }) => {
      const { owner } = await nodesOf(chainId).service.getGovernance(contracts.factory);
      return owner;
    }),
  );
  return [...new Set(owners)];
}

/**
 * Checks that an authority that is a contract on one chain is a contract on every chain. Where it has no code, a stranger
 * may be able to deploy to its address and take the funds sent there.
 */
function checkAuthorities(
  deps: DoctorDeps,
  {
    item,
    needs,
    list,
  }: {
    readonly item: string;
    readonly needs: readonly Check[];
    readonly list: () => Promise<readonly EvmAddress[]>;
  },
): Check {
  return {
    id: "authority.code",
    subject: SUBJECT,
    item,
    needs,
    async run() {
      const authorities = await list();
      const gaps = await Promise.all(authorities.map((authority) => findGaps(deps, authority)));
      const wrong = gaps.filter((gap) => gap !== null);
      return judge(wrong.length === 0, {
        found: wrong.length === 0 ? `${authorities.length} checked` : wrong.join("; "),
        expected: "each a contract on every chain, or on none",
        advice: "Deploy the contract on the chains without it, or replace the authority.",
      });
    },
  };
}

/** Describes the chains on which an authority lacks the code that it has elsewhere; null without a gap. */
async function findGaps(
  { config, nodesOf, display }: DoctorDeps,
  authority: EvmAddress,
): Promise<string | null> {
  const found = await Promise.all(
    listEvmChains(config).map(({ chainId }) => nodesOf(chainId).service.isContract(authority)),
  );
  if (!found.includes(true)) return null;
  const gaps = listEvmChains(config).filter((_, index) => found[index] === false);
  if (gaps.length === 0) return null;
  return `${display(authority)} has no code on ${gaps.map(subjectOf).join(", ")}`;
}
