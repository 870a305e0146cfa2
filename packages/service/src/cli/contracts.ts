/** `sluice contracts`: the addresses of the contracts, and the transactions that deploy them. */
import { toChecksumAddress } from "../chains/evm/checksum.ts";
import { encodeSecurityContact } from "../chains/evm/governance.ts";
import {
  type Config,
  DEPLOYMENT_SALT,
  type Derived,
  deriveDelivery,
  deriveEscrow,
  deriveFactory,
  deriveTreasury,
  DETERMINISTIC_DEPLOYER,
  type EvmChain,
  listEvmChains,
} from "../config/index.ts";
import { assert } from "../core/assert.ts";
import { type EvmAddress, type Hex, toEvmAddress } from "../core/hex.ts";
import { createCommandTraffic } from "../roles/command-traffic.ts";
import { listAccounts } from "../roles/key-accounts.ts";
import { systemClock } from "../roles/system-ports.ts";
import { describeRoute, moduleOf } from "../routes/index.ts";
import type { Call, Result } from "./command.ts";
import { formatLeft, listLeft, toSafeBatch, type TypedCap } from "./contracts-left.ts";
import { openEvmNodes } from "./doctor.ts";

export interface ContractPlace {
  readonly chainId: number;
  readonly chain: string;
  readonly name: string;
  readonly address: string;
  /** The deployment transaction, which any account can send; null for a contract that the configuration names. */
  readonly transaction: { readonly to: string; readonly data: Hex } | null;
}

/** Lists the contracts of the configuration, or what is left to send until they are in service. */
export async function run(call: Call, { batch, left, dailyCap }: ContractsInput): Promise<Result> {
  if (batch !== undefined || left) return runLeft(call, { batch, caps: dailyCap ?? [] });
  const config = call.readConfig({ roles: [] });
  const contracts = listContracts(config);
  const ownerCalls = listOwnerCalls(config);
  return { json: { contracts, ownerCalls }, text: formatContracts(contracts) };
}

interface ContractsInput {
  readonly batch: "safe" | undefined;
  readonly left: boolean;
  readonly dailyCap: readonly TypedCap[] | undefined;
}

async function runLeft(
  call: Call,
  { batch, caps }: { readonly batch: "safe" | undefined; readonly caps: readonly TypedCap[] },
): Promise<Result> {
  const config = call.readConfig({ roles: [], keysOf: "all" });
  const nowMs = systemClock.now();
  const nodesOf = openEvmNodes(config, createCommandTraffic());
  const chains = await listLeft({
    config,
    contracts: listContracts(config),
    accounts: await listAccounts(config, { early: true }),
    inspectorOf: (chainId) => nodesOf(chainId).service,
    caps,
  });
  if (batch === undefined) return { json: { chains }, text: formatLeft(chains) };
  const owner = config.deployment?.owner;
  assert(owner !== undefined, "nothing is listed without a deployment");
  // One file per chain.
  const batches = Object.fromEntries(
    chains.map((chain) => [chain.chain, toSafeBatch(chain, { owner, nowMs })]),
  );
  return { json: batches, text: null };
}

/** A call that the owner sends once the factory of a chain is deployed. */
export interface OwnerCall {
  readonly chainId: number;
  readonly chain: string;
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly data: Hex;
}

/** Lists the owner's calls that set the contact for reports of vulnerabilities; none without one in the configuration. */
export function listOwnerCalls(config: Config): readonly OwnerCall[] {
  const { deployment } = config;
  if (deployment?.securityContact === undefined) return [];
  const data = encodeSecurityContact(deployment.securityContact);
  return listEvmChains(config).map(({ chainId, name: chain, contracts }) => ({
    chainId,
    chain,
    name: "set the security contact",
    from: toChecksumAddress(deployment.owner),
    to: toChecksumAddress(contracts.factory),
    data,
  }));
}

/** Lists every contract of the configuration, per chain in the order of deployment. */
export function listContracts(config: Config): readonly ContractPlace[] {
  // Solana has no contracts: its accounts are derived from the seed.
  return listEvmChains(config).flatMap((chain) => [
    ...listOfChain(config, chain),
    ...config.routes
      .filter(({ chainId }) => chainId === chain.chainId)
      .map((route) => {
        const derived =
          config.deployment &&
          moduleOf(route).definition.derive(config.deployment, config.chains, route);
        return placeOf(
          chain,
          describeRoute(config, route),
          toEvmAddress(route.contract),
          derived ?? undefined,
        );
      }),
  ]);
}

function listOfChain({ deployment }: Config, chain: EvmChain): readonly ContractPlace[] {
  const { chainId, evmChainId, contracts } = chain;
  const { factory } = contracts;
  const place = { factory, chainId, evmChainId };
  const derived = deployment && {
    factory: deriveFactory(deployment),
    escrow: deriveEscrow(place),
    delivery: deriveDelivery(deployment, place),
    treasury: deriveTreasury(deployment),
  };
  return (["factory", "escrow", "delivery", "treasury"] as const).flatMap((name) => {
    const address = contracts[name];
    return address === undefined ? [] : placeOf(chain, name, address, derived?.[name]);
  });
}

function placeOf(
  { chainId, name: chain }: EvmChain,
  name: string,
  address: EvmAddress,
  derived: Derived | undefined,
): ContractPlace {
  return {
    chainId,
    chain,
    name,
    address: toChecksumAddress(address),
    transaction:
      derived?.address === address
        ? {
            to: toChecksumAddress(DETERMINISTIC_DEPLOYER),
            data: `${DEPLOYMENT_SALT}${derived.initCode.slice(2)}`,
          }
        : null,
  };
}

/** Formats the contracts for people, one line each, without call data. */
export function formatContracts(contracts: readonly ContractPlace[]): string {
  const width = Math.max(...contracts.map(({ name }) => name.length));
  return contracts
    .map(({ chain, chainId, name, address, transaction }) => {
      const origin = transaction ? "by deployment" : "as configured";
      return `${chain} (${chainId})  ${name.padEnd(width)}  ${address}  ${origin}`;
    })
    .join("\n");
}
