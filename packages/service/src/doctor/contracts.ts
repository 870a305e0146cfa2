/** Checks of the service's contracts on one chain: their code, their agreement with the configuration, their listed keys. */
import type { ContractTerms, Governance } from "../chains/inspector.ts";
import { DELAY_MIN_S, type EvmChain, isLocal } from "../config/index.ts";
import { formatUnits } from "../core/amounts.ts";
import { NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import { assert } from "../core/assert.ts";
import { type Check, judge, judgeSame, ok, once } from "../core/check.ts";
import { checkCode, type Place } from "./code.ts";
import { type DoctorDeps, subjectOf } from "./facts.ts";
import { checkDailyCaps, checkDirections, checkListedKeys } from "./listings.ts";
import { checkRoute } from "./routes.ts";

export interface ContractChecks {
  readonly all: readonly Check[];
  /** Each passes when the contract's code is of this build; checks that read the contract need it. */
  readonly code: Readonly<Record<"factory" | "escrow" | "delivery", Check>>;
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
  const treasury =
    contracts.treasury &&
    checkCode(place, { name: "treasury", address: contracts.treasury, built: ["treasury"] });
  const routes = deps.config.routes.filter(({ chainId }) => chainId === chain.chainId);
  return {
    code,
    all: [
      checkDeployer(place),
      ...Object.values(code),
      ...checkFactoryIdentity(place, code.factory),
      ...checkGovernance(place, "factory", code.factory),
      ...checkGovernance(place, "delivery", code.delivery),
      ...(treasury ? [treasury, ...checkGovernance(place, "treasury", treasury)] : []),
      checkTerms(place, code),
      checkTreasury(place, code),
      checkSecurityContact(place, code.factory),
      checkThreshold(place, code.factory),
      ...checkUncollected(place, code.escrow),
      ...routes.flatMap((route) => checkRoute(place, { route, factoryCode: code.factory })),
      ...checkListedKeys(place, code),
      ...checkDailyCaps(place, code.delivery),
      ...checkDirections(place, treasury),
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

function checkGovernance(
  place: Place,
  name: "factory" | "delivery" | "treasury",
  code: Check,
): Check[] {
  const { chain, inspector, subject, deps } = place;
  const contract = chain.contracts[name];
  assert(contract, "a contract that is checked is configured");
  const governance = once(() => inspector.getGovernance(contract));
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
      return judge(delaySeconds >= BigInt(DELAY_MIN_S), {
        found: `${delaySeconds} s`,
        expected: `at least ${DELAY_MIN_S} s, 7 days`,
        advice: "Deploy again with a longer delay: users need it to leave before an addition.",
      });
    }),
    ...(deps.live ? [checkMultisig(place, { name, code, governance })] : []),
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

/** Checks that no single key is the owner: it would list routes and attestors alone. */
function checkMultisig(
  { inspector, subject, deps }: Place,
  {
    name,
    code,
    governance,
  }: {
    readonly name: string;
    readonly code: Check;
    readonly governance: () => Promise<Governance>;
  },
): Check {
  return {
    id: "live.owner",
    subject,
    item: name,
    needs: [code],
    async run() {
      const { owner } = await governance();
      const isContract = await inspector.hasCode(owner);
      return judge(isContract, {
        found: `${deps.display(owner)}, ${isContract ? "a contract" : "an account with one key"}`,
        expected: "a multisig",
        advice: "Transfer the ownership to a multisig that exists on this chain.",
      });
    },
  };
}

/** Checks that escrow and delivery were deployed for this chain, this factory and the payout window. */
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
      const payoutWindow = await inspector.getPayoutWindow(delivery);
      const { payoutWindowS } = deps.config;
      return judgeSame(
        [
          ...own,
          { name: "escrow.evmChainId", found: escrowEvmChainId, expected: chain.evmChainId },
          { name: "delivery.payoutWindow", found: payoutWindow, expected: Number(payoutWindowS) },
        ],
        "Correct the addresses under contracts: these were deployed for another chain, factory or payoutWindowSeconds.",
      );
    },
  };
}

/** Checks that the treasury could receive every claim, in each token that routes lock on the chain. */
function checkUncollected({ chain, inspector, subject, deps }: Place, code: Check): Check[] {
  const locked = chain.tokens.filter(({ address }) =>
    deps.config.routes.some(
      (route) => route.fromInventory && route.chainId === chain.chainId && route.token === address,
    ),
  );
  return locked.map(({ symbol: item, address, decimals }) => ({
    id: "escrow.uncollected",
    subject,
    item,
    needs: [code],
    async run() {
      const amount = await inspector.getUncollected(chain.contracts.escrow, toEvmAddress(address));
      return judge(amount === 0n, {
        found: `${formatUnits(amount, decimals)} ${item}`,
        expected: "nothing",
        advice:
          "The treasury refused it: have the owner schedule another treasury if need be, then call collect of the escrow.",
        otherwise: "warning",
      });
    },
  }));
}

/** Checks that the factory needs as many attestors as the settler collects. */
function checkThreshold({ chain, inspector, subject, deps }: Place, code: Check): Check {
  const { threshold } = deps.config.attestors;
  return {
    id: "contract.threshold",
    subject,
    needs: [code],
    async run() {
      const found = await inspector.getThreshold(chain.contracts.factory);
      return judge(found === threshold, {
        found: `${found}`,
        expected: `${threshold}`,
        advice:
          "Correct attestors.threshold, or have the owner schedule the right threshold: with fewer signatures the contracts refuse payouts, claims and returns.",
      });
    },
  };
}

/** Checks that the factory's treasury is the configured one, or, without a deployment, that there is one. */
function checkTreasury(
  { chain, inspector, subject, deps }: Place,
  code: ContractChecks["code"],
): Check {
  const configured = deps.config.deployment?.treasury;
  return {
    id: "contract.treasury",
    subject,
    needs: [code.factory],
    async run() {
      const found = await inspector.getTreasury(chain.contracts.factory);
      const isExpected = configured === undefined ? found !== NATIVE_TOKEN : found === configured;
      return judge(isExpected, {
        found: deps.display(found),
        expected: configured === undefined ? "a treasury" : deps.display(configured),
        advice:
          "Correct deployment.treasury, or have the owner schedule the right treasury: claims are paid to the one found.",
      });
    },
  };
}

/** Checks that the factory shows the configured contact for reports of vulnerabilities, or has one on a public chain. */
function checkSecurityContact({ chain, inspector, subject, deps }: Place, code: Check): Check {
  const configured = deps.config.deployment?.securityContact;
  return {
    id: "contract.security-contact",
    subject,
    needs: [code],
    async run() {
      const found = await inspector.getSecurityContact(chain.contracts.factory);
      const isExpected =
        configured === undefined ? found !== "" || isLocal(chain) : found === configured;
      return judge(isExpected, {
        found: found === "" ? "none" : found,
        expected: configured ?? (isLocal(chain) ? "any, on a local test chain" : "a contact"),
        advice:
          "Set deployment.securityContact, and have the owner send the call that sluice contracts --json prints: finders of a fault ask the contract whom to tell.",
        otherwise: "warning",
      });
    },
  };
}
