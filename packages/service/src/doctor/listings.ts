/** Checks of the owner's listings on one chain: the keys' roles and the tokens' daily caps. */
import type { Config, TokenConfig } from "../config/index.ts";
import { formatUnits } from "../core/amounts.ts";
import { assertNever } from "../core/assert.ts";
import { type Check, type Finding, judge, judgeListed } from "../core/check.ts";
import type { Place } from "./code.ts";
import { type EvmAddress, toEvmAddress } from "../core/hex.ts";
import type { DoctorDeps } from "./facts.ts";
import { listDirections } from "../rebalancing/index.ts";
import { getChainConfig, getToken } from "../routes/index.ts";

/** Checks that each lane and the attestor have the role in the contracts that their calls need. */
export function checkListedKeys(
  place: Place,
  code: { readonly factory: Check; readonly delivery: Check },
): readonly Check[] {
  const { chain, inspector, subject, deps } = place;
  const { factory, delivery } = chain.contracts;
  const lanes = deps.lanesOf(chain.chainId);
  const roles = [
    ...lanes.flatMap(({ name, purpose, address }) => {
      switch (purpose) {
        case "deploy":
          return [];
        case "settle":
        case "claim":
          return {
            item: name,
            needs: code.factory,
            role: "a relayer of the factory",
            account: address,
            isListed: () => inspector.isRelayer(factory, toEvmAddress(address)),
          };
        case "deliver":
          return {
            item: name,
            needs: code.delivery,
            role: "a settler of the delivery contract",
            account: address,
            isListed: () => inspector.isSettler(delivery, toEvmAddress(address)),
          };
        default:
          return assertNever(purpose);
      }
    }),
    ...listAttestors(deps).map(({ item, account }) => ({
      item,
      needs: code.factory,
      role: "an attestor of the factory",
      account,
      isListed: () => inspector.isAttestor(factory, account),
    })),
  ];
  return roles.map(({ item, needs, role, account, isListed }) => ({
    id: "key.listed",
    subject,
    item,
    needs: [needs],
    run: async () =>
      judgeListed(await isListed(), {
        expected: `${deps.display(account)} is ${role}`,
        advice: `Have the owner make ${deps.display(account)} ${role}, or configure the listed key.`,
      }),
  }));
}

/** Checks that the treasury contract, if there is one, may be moved from by the lanes, in every direction that it fills. */
export function checkDirections(place: Place, treasuryCode: Check | undefined): readonly Check[] {
  const { chain, inspector, subject, deps } = place;
  const { treasury } = chain.contracts;
  if (treasury === undefined || !treasuryCode) return [];
  const directions = listDirections(deps.config).filter(
    ({ srcChain }) => srcChain === chain.chainId,
  );
  if (directions.length === 0) return [];
  const needs = [treasuryCode];
  const movers = deps.lanesOf(chain.chainId).filter(({ purpose }) => purpose === "settle");
  return [
    ...movers.map(({ name, address }) => ({
      id: "key.listed",
      subject,
      item: `${name} at the treasury`,
      needs,
      run: async () =>
        judgeListed(await inspector.isMover(treasury, toEvmAddress(address)), {
          expected: `${deps.display(address)} is a mover of the treasury`,
          advice: `Have the owner make ${deps.display(address)} a mover: sluice contracts --left prints the call.`,
        }),
    })),
    ...directions.map(({ token, to, destChain }) => ({
      id: "treasury.direction",
      subject,
      item: `${getToken(deps.config, chain.chainId, token).symbol} to ${getChainConfig(deps.config, destChain).name}`,
      needs,
      async run() {
        const direction = { token: toEvmAddress(token), to: toEvmAddress(to) };
        const { perDay } = await inspector.getDirection(treasury, direction);
        return judge(perDay > 0n, {
          found: `${perDay} base units in 24 hours to ${deps.display(to)}`,
          expected: "more than zero",
          advice:
            "Have the owner list the direction, which waits out the delay: sluice contracts --left --daily-cap prints the calls. Until then the inventory is not refilled from here.",
          otherwise: "warning",
        });
      },
    })),
  ];
}

/** Lists the attestor of this configuration, and the others of the installation, cold ones too. */
export function listAttestors({
  attestor,
  config,
}: Pick<DoctorDeps, "attestor" | "config">): readonly {
  readonly item: string;
  readonly account: EvmAddress;
}[] {
  const { accounts, cold } = config.attestors;
  const others = [
    ...accounts.map((account, index) => ({ item: `attestors.accounts[${index}]`, account })),
    ...cold.map((account, index) => ({ item: `attestors.cold[${index}]`, account })),
  ].filter(({ account }) => account !== attestor);
  return [{ item: "attestor", account: attestor }, ...others];
}

/** Checks that every token delivered on this chain has a daily cap: at a cap of zero the contract pays nothing. */
export function checkDailyCaps(place: Place, deliveryCode: Check): readonly Check[] {
  const { chain, inspector, subject, deps } = place;
  return listDelivered(deps.config, chain.chainId).map(({ symbol: item, address }) => ({
    id: "delivery.cap",
    subject,
    item,
    needs: [deliveryCode],
    async run() {
      const cap = await inspector.getDailyCap(chain.contracts.delivery, toEvmAddress(address));
      return judge(cap > 0n, {
        found: `${cap} base units in 24 hours`,
        expected: "more than zero",
        advice: "Have the owner raise the daily cap of the token and wait out the delay.",
      });
    },
  }));
}

/** Lists the tokens that routes deliver from inventory on a chain. */
export function listDelivered(config: Config, chainId: number): readonly TokenConfig[] {
  const tokens = config.routes
    .filter(({ fromInventory, destChain }) => fromInventory && destChain === chainId)
    .map(({ destToken }) => destToken);
  return [...new Set(tokens)].map((token) => getToken(config, chainId, token));
}

/** Judges a token's inventory: at least `inventoryMin` of the configuration, or else above zero. */
export function judgeInventory(
  { symbol, decimals, inventoryMin }: TokenConfig,
  {
    amount,
    holder,
  }: {
    /** Base units. */
    readonly amount: bigint;
    readonly holder: string;
  },
): Finding {
  const show = (units: bigint) => `${formatUnits(units, decimals)} ${symbol}`;
  return judge(amount >= (inventoryMin ?? 1n), {
    found: show(amount),
    expected: inventoryMin === undefined ? "more than zero" : `at least ${show(inventoryMin)}`,
    advice: `Send ${symbol} to ${holder}: deliveries above the inventory wait.`,
    otherwise: "warning",
  });
}
