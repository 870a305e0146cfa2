/**
 * What owner and deployer still have to send, read from the chains: deployments, seals, members and daily caps. It can be asked
 * at any time; a step that was sent is no longer left.
 */
import { toChecksumAddress } from "../chains/evm/checksum.ts";
import { encodeSecurityContact } from "../chains/evm/governance.ts";
import {
  encodeAddition,
  encodeCapRaise,
  encodeDeliverySeal,
  encodeDirection,
  encodeFactorySeal,
  encodeListRelayer,
  encodeTreasurySeal,
  type OwnerCap,
  type OwnerDirection,
} from "../chains/evm/owner-calls.ts";
import type { ChainInspector } from "../chains/inspector.ts";
import type { GovernedRole } from "../chains/port/index.ts";
import { type Config, type EvmChain, findNamedToken, listEvmChains } from "../config/index.ts";
import { parseUnits, rescale } from "../core/amounts.ts";
import { OperatingError } from "../core/errors.ts";
import { type EvmAddress, type Hex, toEvmAddress } from "../core/hex.ts";
import { listDirections } from "../rebalancing/index.ts";
import { describeRoute, getToken } from "../routes/index.ts";
import type { KeyAccount } from "../roles/key-accounts.ts";
import type { ContractPlace } from "./contracts.ts";

/** A daily cap as it is typed: `base:USDC=250000`. */
export interface TypedCap {
  readonly chain: string;
  readonly symbol: string;
  readonly amount: string;
}

/** A step that is left on a chain. */
export interface LeftStep {
  readonly name: string;
  /** The sender. */
  readonly by: "anybody" | "owner";
  readonly to: string;
  readonly data: Hex;
  /** Null, or the time until which it waits; before, it would revert. */
  readonly waitsUntil: string | null;
}

export interface LeftOfChain {
  readonly chainId: number;
  readonly evmChainId: number;
  readonly chain: string;
  readonly steps: readonly LeftStep[];
}

interface Given {
  readonly config: Config;
  /** Those of the configuration, in the order of deployment. */
  readonly contracts: readonly ContractPlace[];
  readonly accounts: readonly KeyAccount[];
  readonly inspectorOf: (chainId: number) => ChainInspector;
  readonly caps: readonly TypedCap[];
}

/**
 * Lists what is left on every EVM chain, in the order in which it can be sent.
 * @throws OperatingError CONFIG_MISSING without `deployment`, or where a cap is missing or names no token.
 */
export async function listLeft(given: Given): Promise<readonly LeftOfChain[]> {
  const chains = listEvmChains(given.config);
  for (const { chain, symbol } of given.caps) {
    const known = chains.find(({ name }) => name === chain);
    if (!known || !findNamedToken(known, symbol)) {
      throw missing(`--daily-cap: expected a token of a configured chain, got ${chain}:${symbol}`);
    }
  }
  return Promise.all(
    chains.map(async (chain) => {
      const { chainId, evmChainId, name } = chain;
      return { chainId, evmChainId, chain: name, steps: await listOfChain(given, chain) };
    }),
  );
}

async function listOfChain(given: Given, chain: EvmChain): Promise<readonly LeftStep[]> {
  const { config, inspectorOf } = given;
  const { deployment } = config;
  if (!deployment) throw missing("deployment: expected owner and guardian");
  const inspector = inspectorOf(chain.chainId);
  const { factory, delivery, treasury } = chain.contracts;
  const steps: LeftStep[] = [];
  for (const { name, chainId, address, transaction } of given.contracts) {
    if (chainId !== chain.chainId || !transaction) continue;
    if (await inspector.hasCode(toEvmAddress(address))) continue;
    steps.push({ name: `deploy ${name}`, by: "anybody", ...transaction, waitsUntil: null });
  }
  const isSealed = async (contract: EvmAddress) =>
    (await inspector.hasCode(contract)) && (await inspector.getGovernance(contract)).isSealed;
  const { timestamp: nowS } = await inspector.getHead("latest");
  const place = { given, chain, inspector, nowS };
  steps.push(...(await listOfFactory(place, deployment.treasury, await isSealed(factory))));
  steps.push(...(await listOfDelivery(place, await isSealed(delivery))));
  if (treasury !== undefined) {
    steps.push(...(await listOfTreasury(place, treasury, await isSealed(treasury))));
  }
  const contact = deployment.securityContact;
  const shown = (await inspector.hasCode(factory)) && (await inspector.getSecurityContact(factory));
  if (contact !== undefined && contact !== shown) {
    steps.push(owner("set the security contact", factory, encodeSecurityContact(contact)));
  }
  return steps;
}

interface Place {
  readonly given: Given;
  readonly chain: EvmChain;
  readonly inspector: ChainInspector;
  /** Unix seconds of the newest block. */
  readonly nowS: bigint;
}

async function listOfFactory(
  place: Place,
  treasury: EvmAddress,
  isSealed: boolean,
): Promise<readonly LeftStep[]> {
  const { given, chain, inspector } = place;
  const { factory } = chain.contracts;
  const { config, accounts } = given;
  const routes = config.routes.filter(({ chainId }) => chainId === chain.chainId);
  const relayers = accountsOf(place, ["settle", "claim"]);
  const attestors = listAttestors(config, accounts);
  const { threshold } = config.attestors;
  if (!isSealed) {
    const contracts = routes.map(({ contract }) => toEvmAddress(contract));
    const members = { routes: contracts, relayers, attestors, threshold, treasury };
    return [owner("seal the factory", factory, encodeFactorySeal(members))];
  }
  const steps: LeftStep[] = [];
  for (const relayer of relayers) {
    if (await inspector.isRelayer(factory, relayer)) continue;
    steps.push(owner(`list the relayer ${relayer}`, factory, encodeListRelayer(relayer)));
  }
  const add = async (role: GovernedRole, account: EvmAddress, name: string) =>
    steps.push(await addition(place, factory, { role, account, name }));
  for (const route of routes) {
    const contract = toEvmAddress(route.contract);
    if (await inspector.isRoute(factory, contract)) continue;
    await add("route", contract, `route ${describeRoute(config, route)}`);
  }
  for (const attestor of attestors) {
    if (await inspector.isAttestor(factory, attestor)) continue;
    await add("attestor", attestor, `attestor ${attestor}`);
  }
  if ((await inspector.getThreshold(factory)) !== threshold) {
    const number = toEvmAddress(`0x${threshold.toString(16).padStart(40, "0")}`);
    await add("threshold", number, `threshold ${threshold}`);
  }
  if ((await inspector.getTreasury(factory)) !== treasury) {
    await add("treasury", treasury, `treasury ${treasury}`);
  }
  return steps;
}

async function listOfDelivery(place: Place, isSealed: boolean): Promise<readonly LeftStep[]> {
  const { given, chain, inspector } = place;
  const { delivery } = chain.contracts;
  const settlers = accountsOf(place, ["deliver"]);
  const caps = listCaps(given, chain);
  if (!isSealed) {
    requireCaps(place, caps);
    return [owner("seal the delivery", delivery, encodeDeliverySeal(settlers, caps))];
  }
  const steps: LeftStep[] = [];
  for (const settler of settlers) {
    if (await inspector.isSettler(delivery, settler)) continue;
    const member = { role: "settler", account: settler, name: `settler ${settler}` } as const;
    steps.push(await addition(place, delivery, member));
  }
  for (const cap of caps) {
    if ((await inspector.getDailyCap(delivery, cap.token)) >= cap.perDay) continue;
    const { perDay, readyAt } = await inspector.getCapRaise(delivery, cap.token);
    const step = readyAt !== 0n && perDay === cap.perDay ? "execute" : "schedule";
    const name = `${step} the daily cap of ${cap.token}`;
    const waitsUntil = step === "execute" ? waitOf(place, readyAt) : null;
    steps.push({ ...owner(name, delivery, encodeCapRaise(step, cap)), waitsUntil });
  }
  return steps;
}

/** Returns the typed daily caps of a chain's tokens, in base units. */
function listCaps({ caps }: Given, chain: EvmChain): readonly OwnerCap[] {
  return caps.flatMap(({ chain: name, symbol, amount }) => {
    const token = name === chain.name ? findNamedToken(chain, symbol) : undefined;
    if (!token) return [];
    const perDay = parseUnits(amount, token.decimals);
    return [{ token: toEvmAddress(token.address), perDay }];
  });
}

async function listOfTreasury(
  place: Place,
  treasury: EvmAddress,
  isSealed: boolean,
): Promise<readonly LeftStep[]> {
  const { inspector } = place;
  const movers = accountsOf(place, ["settle"]);
  const directions = listOwnerDirections(place);
  if (!isSealed) {
    return [owner("seal the treasury", treasury, encodeTreasurySeal(movers, directions))];
  }
  const steps: LeftStep[] = [];
  for (const mover of movers) {
    if (await inspector.isMover(treasury, mover)) continue;
    const member = { role: "mover", account: mover, name: `mover ${mover}` } as const;
    steps.push(await addition(place, treasury, member));
  }
  for (const { into, ...direction } of directions) {
    const { perDay, pending } = await inspector.getDirection(treasury, direction);
    if (perDay >= direction.perDay) continue;
    const isPending = pending.readyAt !== 0n && pending.perDay === direction.perDay;
    const step = isPending ? "execute" : "schedule";
    const name = `${step} the direction of ${into}, from ${direction.token} to ${direction.to}`;
    const waitsUntil = isPending ? waitOf(place, pending.readyAt) : null;
    steps.push({ ...owner(name, treasury, encodeDirection(step, direction)), waitsUntil });
  }
  return steps;
}

/** A day's refills of an inventory may be as large as a day's payouts out of it. */
function listOwnerDirections({
  given,
  chain,
}: Place): readonly (OwnerDirection & { readonly into: string })[] {
  const { config } = given;
  const chains = listEvmChains(config);
  return listDirections(config).flatMap(({ srcChain, token, to, destChain, destToken }) => {
    const destination = chains.find(({ chainId }) => chainId === destChain);
    if (srcChain !== chain.chainId || !destination) return [];
    const cap = listCaps(given, destination).find((typed) => typed.token === destToken);
    if (!cap) return [];
    const { symbol, decimals } = getToken(config, destChain, destToken);
    const into = `${symbol} into the inventory of ${destination.name}`;
    const perDay = rescale(cap.perDay, decimals, getToken(config, srcChain, token).decimals);
    return [{ token: toEvmAddress(token), to: toEvmAddress(to), perDay, into }];
  });
}

/** A token without a cap at the seal could be paid only a delay later. */
function requireCaps({ given: { config }, chain }: Place, caps: readonly OwnerCap[]): void {
  for (const { fromInventory, destChain, destToken } of config.routes) {
    if (!fromInventory || destChain !== chain.chainId) continue;
    if (caps.some(({ token }) => token === destToken)) continue;
    const { symbol } = getToken(config, destChain, destToken);
    throw missing(
      `--daily-cap: expected ${chain.name}:${symbol}=AMOUNT, since inventory pays ${symbol} on ${chain.name}`,
    );
  }
}

async function addition(
  place: Place,
  contract: EvmAddress,
  { role, account, name }: { readonly role: GovernedRole; account: EvmAddress; name: string },
): Promise<LeftStep> {
  const readyAt = await place.inspector.getReadyAt(contract, { role, account });
  const step = readyAt === 0n ? "schedule" : "execute";
  const data = encodeAddition(step, { role, account });
  const waitsUntil = readyAt === 0n ? null : waitOf(place, readyAt);
  return { ...owner(`${step} the ${name}`, contract, data), waitsUntil };
}

/** Returns the time until which a step waits out its delay; null once it is over. */
function waitOf({ nowS }: Place, readyAt: bigint): string | null {
  return readyAt <= nowS ? null : new Date(Number(readyAt) * 1_000).toISOString();
}

const owner = (name: string, to: EvmAddress, data: Hex): LeftStep => ({
  name,
  by: "owner",
  to: toChecksumAddress(to),
  data,
  waitsUntil: null,
});

function accountsOf(
  { given: { accounts }, chain }: Place,
  purposes: readonly string[],
): readonly EvmAddress[] {
  const found = accounts.flatMap(({ lane, address }) =>
    lane && lane.chainId === chain.chainId && !lane.retired && purposes.includes(lane.purpose)
      ? [toEvmAddress(address)]
      : [],
  );
  return [...new Set(found)];
}

/** Lists the attestors of the installation: those of the configuration, or this one alone, and the cold ones. */
function listAttestors(
  { attestors: { accounts: named, cold } }: Config,
  accounts: readonly KeyAccount[],
): readonly EvmAddress[] {
  const own = accounts.flatMap(({ lane, address }) =>
    lane === null ? [toEvmAddress(address)] : [],
  );
  return [...new Set([...(named.length > 0 ? named : own), ...cold])];
}

function missing(message: string): OperatingError {
  return new OperatingError("CONFIG_MISSING", message);
}

/** Returns the owner's steps that can be sent now, in the form that the transaction builder of Safe loads. */
export function toSafeBatch(
  { chain, evmChainId, steps }: LeftOfChain,
  { owner: safe, nowMs }: { readonly owner: EvmAddress; readonly nowMs: number },
): object {
  const ready = steps.filter(({ by, waitsUntil }) => by === "owner" && waitsUntil === null);
  return {
    version: "1.0",
    chainId: `${evmChainId}`,
    createdAt: nowMs,
    meta: {
      name: `Sluice on ${chain}`,
      description: ready.map(({ name }) => name).join("; "),
      createdFromSafeAddress: toChecksumAddress(safe),
    },
    transactions: ready.map(({ to, data }) => ({
      to,
      value: "0",
      data,
      contractMethod: null,
      contractInputsValues: null,
    })),
  };
}

/** Formats what is left for people, a line each, without call data. */
export function formatLeft(chains: readonly LeftOfChain[]): string {
  const lines = chains.flatMap(({ chain, steps }) =>
    steps.map(
      ({ name, by, waitsUntil }) =>
        `${chain}  ${by}  ${name}${waitsUntil === null ? "" : `, from ${waitsUntil}`}`,
    ),
  );
  return lines.length === 0 ? "nothing is left" : lines.join("\n");
}
