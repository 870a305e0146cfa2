/** Checks of the owner's listings on one chain: the keys' roles and the tokens' daily caps. */
import type { Config, TokenConfig } from "../config/index.ts";
import { formatUnits } from "../core/amounts.ts";
import { assertNever } from "../core/assert.ts";
import { type Check, type Finding, judge, judgeListed } from "../core/check.ts";
import type { Place } from "./code.ts";
import { type EvmAddress, toEvmAddress } from "../core/hex.ts";
import type { DoctorDeps } from "./facts.ts";
import { getToken } from "../routes/index.ts";

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
