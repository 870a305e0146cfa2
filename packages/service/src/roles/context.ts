/**
 * What every role shares: the ports of the real world, the database and the chains. The only place that names a chain
 * family; a role takes what it needs from here and hands it down as arguments.
 */
import { type FindVault, findWalletOf } from "../addresses/index.ts";
import { deliveryIdOf, hashCommitment, predictWallet } from "../chains/evm/commitment.ts";
import { createEvmChain } from "../chains/evm/evm-chain.ts";
import type { AddressFormat, Chain, Chains } from "../chains/port.ts";
import { createSolanaChain } from "../chains/solana/solana-chain.ts";
import { createQuorumChain } from "../chains/quorum.ts";
import type { ChainConfig, Config, TokenConfig } from "../config/load.ts";
import type { NodesConfig } from "../config/nodes.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import type { Clock, CrashPoint, Http, Random } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import { createFees, createGasCosts, type Fees } from "../fees/index.ts";
import {
  createPrices,
  PRICE_REFUSALS,
  type PricedToken,
  type PriceLook,
  type Prices,
} from "../prices/index.ts";
import type { Wakeups } from "../jobs/wakeups.ts";
import {
  type Attestations,
  createAttestations,
  getChain,
  getChainConfig,
  getToken,
  missing,
  type RouteBook,
  SERVICE_FAILURES,
} from "../routes/index.ts";
import type { LaneSigner } from "../signers/port.ts";
import type { Log } from "../telemetry/log.ts";
import { chainLabel, type Metrics } from "../telemetry/metrics.ts";
import type { Watch } from "./health.ts";

export interface RoleContext {
  readonly config: Config;
  readonly db: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly watch: Watch;
  readonly crashPoint: CrashPoint;
  readonly wakeups: Wakeups;
  /** The service's own readers. The attestor makes its own from `attestor.rpcUrls`. */
  readonly chains: Chains;
  readonly http: Http;
  /** Read through `chains` and `http`. The attestor makes its own. */
  readonly prices: Prices;
  readonly routes: RouteBook;
  /** Circle's attestation service; null where no route needs it. One for the process, so that it is asked in turn. */
  readonly attestations: Attestations | null;
  readonly format: AddressFormat;
  /** The vaults of Solana, from who alone can derive them; absent where this process reaches no signer that does. */
  readonly findVault?: FindVault;
}

/** A running role; `stop` ends its loops after the look under way. */
export interface RunningRole {
  stop(): Promise<void>;
}

/** Topics of wake-ups. A lost one costs one poll. */
export const TOPICS = {
  events: "events",
  settlements: "settlements",
  deliveries: "deliveries",
  attestations: "attestations",
  lanes: "lanes",
} as const;

/** The readers of the configured chains, over the given nodes of each: the service's own unless others are given. */
export function createChains(
  config: Config,
  deps: {
    readonly clock: Clock;
    readonly log: Log;
    /** Where vaults are looked up; only what plans transactions of Solana needs it. */
    readonly db?: Db | undefined;
    /** Of which one keeps the daily cap of Solana; only what plans deliveries there needs it. */
    readonly lanes?: readonly LaneSigner[] | undefined;
  },
  nodesOf = (chain: ChainConfig): NodesConfig => chain.nodes,
): Chains {
  return new Map<number, Chain>(
    config.chains.map((chain) => {
      const { chainId, kind, evmChainId, contracts, cctp } = chain;
      const { urls, quorum } = nodesOf(chain);
      if (kind === "svm") {
        return [chainId, openSolana(config, chain, { ...deps, urls, required: quorum })];
      }
      const open = (rpcUrl: string) =>
        createEvmChain({
          chainId,
          evmChainId,
          rpcUrl,
          contracts,
          cctp,
          timeoutMs: RPC_TIMEOUT_MS,
        });
      const [first, ...others] = urls;
      if (others.length === 0) return [chainId, open(first)];
      const nodes = [open(first), ...others.map(open)] as const;
      return [chainId, createQuorumChain(nodes, { ...deps, required: quorum })];
    }),
  );
}

/**
 * The chain as the scanner walks it: of Solana also the blocks that may still be undone, where the configuration has
 * deposits shown before they are final. Everybody else is given final blocks there.
 */
export function createScannerChain(
  { config, chains, ...deps }: Pick<RoleContext, "config" | "chains" | "clock" | "log">,
  chain: ChainConfig,
): Chain {
  const { chainId, solana, nodes } = chain;
  if (solana?.detectAt !== "confirmed") return getChain(chains, chainId);
  const { urls, quorum: required } = nodes;
  return openSolana(config, chain, { ...deps, urls, required, walkAt: "confirmed" });
}

function openSolana(
  config: Config,
  { chainId, contracts, solana }: ChainConfig,
  deps: {
    readonly clock: Clock;
    readonly log: Log;
    readonly db?: Db | undefined;
    readonly lanes?: readonly LaneSigner[] | undefined;
    readonly urls: readonly string[];
    readonly required: number;
    readonly walkAt?: "confirmed" | "finalized";
  },
): Chain {
  if (!solana) throw missing("configuration", chainId);
  const { genesisHash, detectAt, treasury, feePayers, mints, dailyCaps, priorityFeeMax } = solana;
  const { clock, log, db, lanes = [], urls, required, walkAt = "finalized" } = deps;
  const keeper = lanes.find((lane) => lane.chainId === chainId && lane.purpose === "deliver");
  const { factory: binding, escrow, delivery } = contracts;
  const factory = findEvmFactory(config);
  return createSolanaChain({
    chainId,
    rpcUrls: urls,
    required,
    timeoutMs: RPC_TIMEOUT_MS,
    genesisHash,
    levels: { detectAt, walkAt },
    accounts: { binding, escrow, delivery, treasury, feePayers },
    commitments: {
      hash: hashCommitment,
      walletOf: (commitment) => predictWallet(factory, commitment),
      deliveryIdOf,
    },
    mints,
    vaultOf: async (commitment) => (db ? findWalletOf(db, commitment) : null),
    // Whoever reaches no signer knows only what it was told itself.
    capLeftOf: async (token) => (await keeper?.getCapLeft?.(token)) ?? dailyCaps.get(token) ?? 0n,
    rentPerByte: RENT_PER_BYTE,
    unitPrice: { min: 0n, max: priorityFeeMax },
    clock,
    log,
  });
}

/** What accounts cost before it was lowered; what is more than the cluster asks comes back when they are closed. */
export const RENT_PER_BYTE = 6_960n;

/** The factory of the EVM chains, which stands at one address: ids of deliveries are made with it. */
export function findEvmFactory({ chains }: Config): Address {
  const chain = chains.find(({ kind }) => kind === "evm");
  if (chain) return chain.contracts.factory;
  throw new OperatingError("CONFIG_MISSING", "chains: expected an EVM chain beside Solana.");
}

/** The same over the attestor's own nodes. */
export function createAttestorChains(
  config: Config,
  deps: { readonly clock: Clock; readonly log: Log },
): Chains {
  return createChains(config, deps, ({ chainId }) => {
    const nodes = config.attestor.nodes.get(chainId);
    if (nodes) return nodes;
    throw new OperatingError(
      "CONFIG_MISSING",
      `attestor.rpcUrls: expected a node for chain ${chainId}.`,
    );
  });
}

const RPC_TIMEOUT_MS = 10_000;

/** The client of Circle's attestation service, where one is configured. What it is not answered is counted. */
export function openAttestations(
  { cctp }: Config,
  {
    metrics,
    ...deps
  }: {
    readonly http: Http;
    readonly clock: Clock;
    readonly log: Log;
    readonly metrics: Metrics;
  },
): Attestations | null {
  if (!cctp) return null;
  const { bridgeServiceFailures } = metrics;
  for (const reason of SERVICE_FAILURES) bridgeServiceFailures.inc({ reason }, 0);
  const onFailure = (reason: string) => bridgeServiceFailures.inc({ reason });
  return createAttestations({ apiUrl: cctp.apiUrl, ...deps, onFailure });
}

/** Prices from the configured sources, read over the given chains. What the sources do is logged and counted. */
export function createConfiguredPrices(
  config: Config,
  deps: {
    readonly chains: Chains;
    readonly http: Http;
    readonly clock: Clock;
    readonly log: Log;
    readonly metrics: Metrics;
  },
): Prices {
  return createPrices({
    ...deps,
    sourcesOf: ({ chainId, token }) => findToken(config, chainId, token)?.price,
    onLook: watchPrices(config, deps),
  });
}

/** The fees of settlements, by the configured policy and prices. */
export function createConfiguredFees({
  config,
  db,
  chains,
  prices,
  clock,
}: Pick<RoleContext, "config" | "db" | "chains" | "prices" | "clock">): Fees {
  const surchargeOf = (chainId: number) => getChainConfig(config, chainId).transactionSurcharge;
  return createFees({
    db,
    serviceBps: config.feeBps,
    gas: config.gas,
    gasCosts: createGasCosts({ chains, prices, clock, surchargeOf }),
  });
}

/** Counts what a look at prices found, and logs each source when it begins to fail and when it is back. */
function watchPrices(
  config: Config,
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
): (token: PricedToken, look: PriceLook) => void {
  // A counter that appears with its first event shows no increase to whoever watches for one.
  for (const { chainId, tokens } of config.chains) {
    for (const { symbol: token } of tokens.filter(({ price }) => price)) {
      const labels = { chain: chainLabel(chainId), token };
      metrics.priceSourceFaults.inc(labels, 0);
      for (const reason of PRICE_REFUSALS) metrics.pricesUnavailable.inc({ ...labels, reason }, 0);
    }
  }
  /** Faults by source; as many as the configuration has sources. */
  const faults = new Map<string, string>();
  return ({ chainId, token: address }, { result, sources }) => {
    const { symbol: token } = getToken(config, chainId, address);
    const labels = { chain: chainLabel(chainId), token };
    if (result.kind === "unavailable") {
      metrics.pricesUnavailable.inc({ ...labels, reason: result.reason });
    }
    for (const { source, fault, detail } of sources) {
      if (fault !== null) metrics.priceSourceFaults.inc(labels);
      const name = `${chainId} ${address} ${source}`;
      const before = faults.get(name);
      if ((fault ?? undefined) === before) continue;
      const facts = { chainId, token, source };
      if (fault === null) {
        faults.delete(name);
        log.info(facts, "a source of prices is back");
      } else {
        faults.set(name, fault);
        log.warn({ ...facts, fault, detail }, "a source of prices fails");
      }
    }
  };
}

function findToken(config: Config, chainId: number, address: Address): TokenConfig | undefined {
  return getChainConfig(config, chainId).tokens.find((known) => known.address === address);
}
