/** The chain port on Solana: a quorum of nodes, and orders to the signer instead of contracts. */
import { type Address, type Hex32 } from "../../core/hex.ts";
import type { Clock } from "../../core/ports.ts";
import type { Log } from "../../telemetry/log.ts";
import type { BlockhashSequencing, Chain, FinalBalances, VaultWallets } from "../port/index.ts";
import {
  type Accounts,
  type Commitments,
  createContracts,
  createVaultWallets,
} from "./contracts.ts";
import { WRAPPED_SOL } from "./derived-accounts.ts";
import { createLockIds, type MintFacts, WRAPPED_SOL_FACTS } from "./order-facts.ts";
import { createFinalBalances } from "./final-balances.ts";
import { createBlockDecoder } from "./block-workers.ts";
import { createNode, type NodeOptions } from "./node.ts";
import { createQuorum } from "./quorum.ts";
import { createReader, type Levels } from "./reader.ts";
import { createBlockhashSequencing, createSender } from "./sender.ts";
import type { BlockStream } from "./yellowstone/block-stream.ts";
import { withStream } from "./yellowstone/streamed-node.ts";

export interface SolanaChainOptions {
  /** Bridge chain id. */
  readonly chainId: number;
  /** At least one. */
  readonly nodes: readonly (Pick<NodeOptions, "rpcUrl" | "traffic"> & {
    /** The node's newest blocks; undefined: all are requested. */
    readonly stream?: BlockStream | undefined;
  })[];
  /** Number of nodes that must agree: more than half. */
  readonly required: number;
  /** Per request, including the body. */
  readonly timeoutMs: number;
  /** Hash of the cluster's first block, which every node must serve. */
  readonly genesisHash: Hex32;
  readonly levels: Levels;
  readonly accounts: Accounts;
  readonly commitments: Commitments;
  /** Configured mints. Wrapped SOL need not be among them. */
  readonly mints: ReadonlyMap<Address, MintFacts>;
  /** Returns the stored vault of a commitment's hash; null when none was issued. */
  readonly vaultOf: (commitment: Hex32) => Promise<Address | null>;
  /** Returns how much of a token the signer still delivers under the daily cap, in base units. */
  readonly capLeftOf: (token: Address) => Promise<bigint>;
  /** Rent in lamports per byte of opened accounts. Any excess is returned when they are closed. */
  readonly rentPerByte: bigint;
  /** Seconds after its lock in which the signer pays a delivery. */
  readonly payoutWindowS: bigint;
  /** Lowest and highest offered priority fee, in micro-lamports per compute unit. */
  readonly unitPrice: { readonly min: bigint; readonly max: bigint };
  readonly clock: Clock;
  readonly log: Log;
}

/** A chain whose nodes serve only their newest final state, and whose wallets are vaults of the signer. */
export interface ChainOfVaults extends Chain {
  readonly sequencing: BlockhashSequencing;
  readonly balances: FinalBalances;
  readonly wallets: VaultWallets;
}

/** Creates the chain without a request. `checkIdentity` checks that its nodes serve the right cluster. */
export function createSolanaChain(options: SolanaChainOptions): ChainOfVaults {
  const { chainId, levels, accounts, commitments, mints, capLeftOf, rentPerByte, payoutWindowS } =
    options;
  const decodeBlock = createBlockDecoder();
  const nodes = options.nodes.map(({ stream, ...given }) => {
    const node = createNode({ ...options, ...given, decodeBlock });
    return stream ? withStream(node, stream) : node;
  });
  const quorum = createQuorum(nodes, options);
  const findMintFacts = (mint: Address) =>
    mints.get(mint) ?? (mint === WRAPPED_SOL ? WRAPPED_SOL_FACTS : undefined);

  const ids = createLockIds({ chainId, ...accounts }, commitments);

  return {
    ...createReader(quorum, { chainId, findMintFacts, levels, accounts }),
    ...createSender(quorum, {
      ...options,
      ids,
      findMintFacts,
      rentOf: (bytes) => rentOf(bytes, rentPerByte),
    }),
    ...createContracts(quorum, {
      chainId,
      accounts,
      commitments,
      ids,
      payoutWindowS,
      capLeftOf,
    }),
    sequencing: createBlockhashSequencing(quorum),
    balances: createFinalBalances(quorum),
    wallets: createVaultWallets(quorum, accounts),
    priceFeeds: null,
    pools: null,
    cctp: null,
    payoutSearch: null,
    governance: null,
    treasury: null,
  };
}

/** Bytes of overhead that rent is charged for with every account. */
const ACCOUNT_OVERHEAD = 128n;

/** Returns the rent-exempt minimum of an account, in lamports. */
export function rentOf(bytes: number, lamportsPerByte: bigint): bigint {
  return (BigInt(bytes) + ACCOUNT_OVERHEAD) * lamportsPerByte;
}
