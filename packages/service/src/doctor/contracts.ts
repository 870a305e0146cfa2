/** Checks of the service's contracts on one chain: their code, their agreement with the configuration, their listed keys. */
import type { ContractTerms, Governance } from "../chains/inspector.ts";
import { type EvmChain, isLocal } from "../config/index.ts";
import { NATIVE_TOKEN } from "../core/hex.ts";
import { type Check, judge, judgeSame, ok, once } from "../core/check.ts";
import { checkCode, type Place } from "./code.ts";
import { type DoctorDeps, subjectOf } from "./facts.ts";
import { checkDailyCaps, checkListedKeys } from "./listings.ts";
import { checkRoute } from "./routes.ts";

/** Seven days: users who watch the contracts can leave within this time before an addition takes effect. */
const DELAY_MIN_S = 604_800n;

export interface ContractChecks {
  readonly all: readonly Check[];
  /** Each passes when the contract's code is of this build; checks that read the contract need it. */
  readonly code: Readonly<Record<keyof EvmChain["contracts"], Check>>;
}

/** Returns the checks of an EVM chain's contracts. All of them are skipped unless `identified` passes. */
export function checkContracts(
  deps: DoctorDeps,
  chain: EvmChain,
  identified: Check,
): ContractChecks {
  const inspector = deps.nodesOf(chain.chainId).service;
  const place: Place = { chain, inspector, subject: subjectOf(chain), deps, identified };
  const { contracts } = chain;
  const code = {
    factory: checkCode(place, { name: "factory", address: contracts.factory, built: ["factory"] }),
    escrow: checkCode(place, { name: "escrow", address: contracts.escrow, built: ["escrow"] }),
    delivery: checkCode(place, {
      name: "delivery",
      address: contracts.delivery,
      built: ["delivery"],
    }),
  };
  const routes = deps.config.routes.filter(({ chainId }) => chainId === chain.chainId);
  return {
    code,
    all: [
      checkDeployer(place),
      ...Object.values(code),
      ...checkFactoryIdentity(place, code.factory),
      ...checkGovernance(place, "factory", code.factory),
      ...checkGovernance(place, "delivery", code.delivery),
      checkTerms(place, code),
      checkTreasury(place, code),
      ...routes.flatMap((route) => checkRoute(place, { route, factoryCode: code.factory })),
      ...checkListedKeys(place, code),
      ...checkDailyCaps(place, code.delivery),
    ],
  };
}

function checkDeployer({ deps, inspector, subject, identified }: Place): Check {
  const { address, codeHash } = deps.factory.deployer;
  return {
    id: "contract.deployer",
    subject,
    needs: [identified],
    run: async () =>
      judgeSame(
        [{ name: "code hash", found: await inspector.getCodeHash(address), expected: codeHash }],
        `Remove the chain: without the deterministic deployer at ${deps.display(address)}, the factory cannot have the same address here.`,
      ),
  };
}

function checkFactoryIdentity(place: Place, code: Check): readonly Check[] {
  const { chain, inspector, subject, deps } = place;
  const { factory } = chain.contracts;
  const expected = deps.factory.identityOf(factory);
  const advice =
    "Do not issue addresses with this factory: its wallets would not run the committed code.";
  return [
    {
      id: "factory.identity",
      subject,
      needs: [code],
      async run() {
        const found = await inspector.getFactoryIdentity(factory);
        return judgeSame(
          [
            {
              name: "implementation",
              found: deps.display(found.implementation),
              expected: deps.display(expected.implementation),
            },
            {
              name: "initCodeHash",
              found: found.initCodeHash,
              expected: expected.initCodeHash,
            },
          ],
          advice,
        );
      },
    },
    {
      id: "factory.implementation",
      subject,
      needs: [code],
      async run() {
        const isOurs = await inspector.isImplementationOf(expected.implementation, factory);
        return judge(isOurs, {
          found: isOurs ? "of this build, for this factory" : "other code, or for another factory",
          expected: "the wallet code of this build, for this factory",
          advice,
        });
      },
    },
  ];
}

function checkGovernance(place: Place, name: "factory" | "delivery", code: Check): Check[] {
  const { chain, inspector, subject, deps } = place;
  const governance = once(() => inspector.getGovernance(chain.contracts[name]));
  const check = (id: string, judgeIt: (facts: Governance) => ReturnType<typeof judge>): Check => ({
    id: `contract.${id}`,
    subject,
    item: name,
    needs: [code],
    run: async () => judgeIt(await governance()),
  });
  return [
    check("sealed", ({ isSealed }) =>
      judge(isSealed, {
        found: isSealed ? "sealed" : "not sealed",
        expected: "sealed",
        advice: "Have the owner call seal: until then the contract refuses every call.",
      }),
    ),
    check("paused", ({ isPaused }) =>
      judge(!isPaused, {
        found: isPaused ? "paused" : "not paused",
        expected: "not paused",
        advice: "Have the owner lift the pause: until then nothing settles or is delivered.",
        otherwise: "warning",
      }),
    ),
    check("delay", ({ delaySeconds }) => {
      if (isLocal(chain)) return ok(`${delaySeconds} s, on a local test chain`, "any delay");
      return judge(delaySeconds >= DELAY_MIN_S, {
        found: `${delaySeconds} s`,
        expected: `at least ${DELAY_MIN_S} s, 7 days`,
        advice: "Deploy again with a longer delay: users need it to leave before an addition.",
      });
    }),
    check("owner", ({ owner, guardian }) =>
      judge(owner !== guardian && owner !== NATIVE_TOKEN, {
        found: `owner ${deps.display(owner)}, guardian ${deps.display(guardian)}`,
        expected: "an owner, and another account as guardian",
        advice:
          "Have the owner name another guardian: with one account, a stolen key controls both roles.",
      }),
    ),
  ];
}

/** Checks that escrow and delivery were deployed for this chain and this factory. */
function checkTerms(
  { chain, inspector, subject, deps }: Place,
  code: ContractChecks["code"],
): Check {
  const { escrow, delivery, factory } = chain.contracts;
  return {
    id: "contract.terms",
    subject,
    needs: [code.escrow, code.delivery],
    async run() {
      const found = {
        escrow: await inspector.getContractTerms(escrow),
        delivery: await inspector.getContractTerms(delivery),
      };
      const own = Object.entries<ContractTerms>(found).flatMap(([name, terms]) => [
        {
          name: `${name}.factory`,
          found: deps.display(terms.factory),
          expected: deps.display(factory),
        },
        { name: `${name}.bridgeId`, found: terms.bridgeId, expected: chain.chainId },
      ]);
      const escrowEvmChainId = await inspector.getEscrowEvmChainId(escrow);
      return judgeSame(
        [
          ...own,
          { name: "escrow.evmChainId", found: escrowEvmChainId, expected: chain.evmChainId },
        ],
        "Correct the addresses under contracts: these were deployed for another chain or factory.",
      );
    },
  };
}

function checkTreasury(
  { chain, inspector, subject, deps }: Place,
  code: ContractChecks["code"],
): Check {
  return {
    id: "contract.treasury",
    subject,
    needs: [code.escrow, code.delivery],
    async run() {
      const escrow = (await inspector.getContractTerms(chain.contracts.escrow)).treasury;
      const delivery = (await inspector.getContractTerms(chain.contracts.delivery)).treasury;
      return judge(escrow === delivery && escrow !== NATIVE_TOKEN, {
        found: `escrow ${deps.display(escrow)}, delivery ${deps.display(delivery)}`,
        expected: "one treasury",
        advice: "Deploy both with one treasury: otherwise claims cannot refill the inventory.",
      });
    },
  };
}
