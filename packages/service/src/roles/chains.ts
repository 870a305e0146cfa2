/** Creates the readers of the configured chains. Outside `chains/`, only this file chooses by chain family. */
import { findWalletByCommitment } from "../addresses/index.ts";
import { deliveryIdOf, hashCommitment, predictWallet } from "../chains/evm/commitment.ts";
import { createEvmChain } from "../chains/evm/evm-chain.ts";
import type { Chain, Chains } from "../chains/port/index.ts";
import { type ChainAtBlocks, createQuorumChain } from "../chains/quorum.ts";
import { comeFirst, type NodeTraffic, useReserve } from "../chains/rpc/traffic.ts";
import { createSolanaChain } from "../chains/solana/solana-chain.ts";
import type { BlockStream } from "../chains/solana/yellowstone/block-stream.ts";
import { createWitnessedChain } from "../chains/witnessed.ts";
import {
  type ChainConfig,
  type Config,
  type EvmChain,
  feePayersOf,
  listEvmChains,
  type NodeConfig,
  type NodesConfig,
  type SolanaChain,
} from "../config/index.ts";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import type { EvmAddress } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import type { LaneSigner } from "../signers/port.ts";
import type { Log } from "../telemetry/log.ts";
import type { Parts } from "./context.ts";
import type { BlockStreams } from "./block-streams.ts";
import type { NodePlace, TrafficOf } from "./node-traffic.ts";

/** Creates the readers of the configured chains, over the service's nodes unless others are given. */
export function createChains(
  config: Config,
  deps: {
    readonly clock: Clock;
    readonly log: Log;
    /** Source of vaults; needed only to plan transactions of Solana. */
    readonly db?: Db | undefined;
    /** Limits of the nodes. */
    readonly trafficOf: TrafficOf;
    /** Signers, one of which enforces the daily cap on Solana; needed only to plan deliveries there. */
    readonly lanes?: readonly LaneSigner[] | undefined;
  },
  { view, nodesOf }: View = SERVICE,
): Chains {
  return new Map<number, Chain>(
    config.chains.map((chain) => {
      const { chainId } = chain;
      const { all, quorum } = nodesOf(chain);
      const nodes = placeNodes(all, { chainId, view, trafficOf: deps.trafficOf });
      return chain.kind === "svm"
        ? [chainId, openSolana(config, chain, { ...deps, nodes, required: quorum })]
        : [chainId, openFull(chain, nodes, { ...deps, quorum })];
    }),
  );
}

/** Returns limits under which requests may use the reserve of a node's daily budget: for readers of claims and returns. */
export function withReserve(trafficOf: TrafficOf): TrafficOf {
  return (...args) => useReserve(trafficOf(...args));
}

/** Opens a chain over its full nodes; as many must agree as the quorum says, or all where they are fewer. */
function openFull(
  chain: EvmChain,
  nodes: readonly PlacedNode[],
  { quorum, ...deps }: { readonly clock: Clock; readonly log: Log; readonly quorum: number },
): ChainAtBlocks {
  const full = nodes.filter(({ role }) => role === "full").map((node) => openEvm(chain, node));
  const [first, ...others] = full;
  assert(first, "the configuration has a full node of each chain");
  if (others.length === 0) return first;
  const required = Math.min(quorum, full.length);
  return createQuorumChain([first, ...others], { ...deps, required });
}

function openEvm(chain: EvmChain, { rpcUrl, traffic }: PlacedNode) {
  const { chainId, evmChainId, contracts, cctp } = chain;
  const timeoutMs = RPC_TIMEOUT_MS;
  return createEvmChain({ chainId, evmChainId, rpcUrl, traffic, contracts, cctp, timeoutMs });
}

/** The nodes of one side. */
interface View {
  readonly view: NodePlace["view"];
  readonly nodesOf: (chain: ChainConfig) => NodesConfig;
}

const SERVICE: View = { view: "service", nodesOf: ({ nodes }) => nodes };

/** A node and its limits. */
export interface PlacedNode {
  readonly rpcUrl: string;
  readonly role: NodeConfig["role"];
  readonly traffic: NodeTraffic;
}

/** Returns the nodes of one side with their limits. */
export function placeNodes(
  [first, ...others]: NodesConfig["all"],
  { trafficOf, ...place }: Omit<NodePlace, "position"> & { readonly trafficOf: TrafficOf },
): readonly [PlacedNode, ...PlacedNode[]] {
  const placeOne = (node: NodeConfig, position: number): PlacedNode => ({
    rpcUrl: node.url,
    role: node.role,
    traffic: trafficOf({ ...place, position }, node),
  });
  return [placeOne(first, 0), ...others.map((node, index) => placeOne(node, index + 1))];
}

/**
 * Creates the readers of the scanner. Their requests come before others of the process, and they ask witnesses where a chain
 * has some. On Solana they see blocks that are not final, if the configuration shows deposits before finality, and the
 * streams of its nodes; every other role reads only final blocks there, with requests.
 */
export function createScannerChains(
  config: Config,
  deps: Parts<"clock" | "log" | "trafficOf"> & {
    readonly db?: Db;
    /** By bridge chain id. */
    readonly streams: ReadonlyMap<number, Pick<BlockStreams, "ofNodes">>;
  },
): Chains {
  const trafficOf: TrafficOf = (...args) => comeFirst(deps.trafficOf(...args));
  const open = (chain: ChainConfig): Chain => {
    const { chainId } = chain;
    const { all, quorum: required } = chain.nodes;
    const nodes = placeNodes(all, { chainId, view: "service", trafficOf });
    if (chain.kind === "svm") {
      const { ofNodes = [] } = deps.streams.get(chainId) ?? {};
      const streamed = nodes.map((node, position) => ({ ...node, stream: ofNodes[position] }));
      const walkAt = chain.detectAt;
      return openSolana(config, chain, { ...deps, nodes: streamed, required, walkAt });
    }
    const full = openFull(chain, nodes, { ...deps, quorum: required });
    if (nodes.every(({ role }) => role === "full")) return full;
    const opened = nodes.map((node) => ({ role: node.role, chain: openEvm(chain, node) }));
    return createWitnessedChain(full, { ...deps, nodes: opened, required });
  };
  return new Map(config.chains.map((chain) => [chain.chainId, open(chain)]));
}

function openSolana(
  config: Config,
  chain: SolanaChain,
  deps: {
    readonly clock: Clock;
    readonly log: Log;
    readonly db?: Db | undefined;
    readonly lanes?: readonly LaneSigner[] | undefined;
    readonly nodes: readonly (PlacedNode & { readonly stream?: BlockStream | undefined })[];
    readonly required: number;
    readonly walkAt?: "confirmed" | "finalized";
  },
): Chain {
  const { chainId, genesisHash, detectAt, mints, dailyCaps, priorityFeeMax } = chain;
  const { clock, log, db, lanes = [], nodes, required, walkAt = "finalized" } = deps;
  const keeper = lanes.find((lane) => lane.chainId === chainId && lane.purpose === "deliver");
  const { binding, escrow, delivery, treasury } = chain.accounts;
  const factory = findEvmFactory(config);
  return createSolanaChain({
    chainId,
    nodes,
    required,
    timeoutMs: RPC_TIMEOUT_MS,
    genesisHash,
    levels: { detectAt, walkAt },
    accounts: { binding, escrow, delivery, treasury, feePayers: feePayersOf(chain) },
    commitments: {
      hash: hashCommitment,
      walletOf: (commitment) => predictWallet(factory, commitment),
      deliveryIdOf,
    },
    mints,
    payoutWindowS: config.payoutWindowS,
    vaultOf: async (commitment) => (db ? findWalletByCommitment(db, commitment) : null),
    // Without a signer, only the cap of the configuration is known.
    capLeftOf: async (token) => (await keeper?.getCapLeft?.(token)) ?? dailyCaps.get(token) ?? 0n,
    rentPerByte: RENT_PER_BYTE,
    unitPrice: { min: 0n, max: priorityFeeMax },
    clock,
    log,
  });
}

/** Rent at the rate before it was lowered. An excess over the cluster's rate is returned when the account is closed. */
export const RENT_PER_BYTE = 6_960n;

/** Returns the factory of the EVM chains, which has one address on all of them and is part of signed prices. */
export function findEvmFactory(config: Config): EvmAddress {
  const [chain] = listEvmChains(config);
  if (chain) return chain.contracts.factory;
  throw new OperatingError("CONFIG_MISSING", "chains: expected an EVM chain beside Solana.");
}

/** Creates the readers over the attestor's own nodes. */
export function createAttestorChains(
  config: Config,
  deps: { readonly clock: Clock; readonly log: Log; readonly trafficOf: TrafficOf },
): Chains {
  const nodesOf = ({ chainId }: ChainConfig) => {
    const nodes = config.attestor.nodes.get(chainId);
    if (nodes) return nodes;
    throw new OperatingError(
      "CONFIG_MISSING",
      `attestor.rpcUrls: expected a node for chain ${chainId}.`,
    );
  };
  return createChains(config, deps, { view: "attestor", nodesOf });
}

const RPC_TIMEOUT_MS = 10_000;
