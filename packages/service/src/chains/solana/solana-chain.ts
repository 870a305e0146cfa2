/** The chain port on Solana: a quorum of nodes, and orders to the signer instead of contracts. */
import type { Commitment } from "../../core/commitment.ts";
import { type Address, type Hex32, padAddress } from "../../core/hex.ts";
import type { Clock } from "../../core/ports.ts";
import type { Log } from "../../telemetry/log.ts";
import type {
  BlockhashSequencing,
  Chain,
  Payout,
  FinalBalances,
  VaultWallets,
} from "../port/index.ts";
import {
  type Accounts,
  type Commitments,
  createContracts,
  createVaultWallets,
} from "./contracts.ts";
import { WRAPPED_SOL } from "./derived-accounts.ts";
import { type MintFacts, WRAPPED_SOL_FACTS } from "./order-facts.ts";
import { createFinalBalances } from "./final-balances.ts";
import { createBlockDecoder } from "./block-workers.ts";
import { createNode, type NodeOptions } from "./node.ts";
import { createQuorum } from "./quorum.ts";
import { createReader, type Levels } from "./reader.ts";
import { createBlockhashSequencing, createSender } from "./sender.ts";

export interface SolanaChainOptions {
  /** Bridge chain id. */
  readonly chainId: number;
  /** At least one. */
  readonly nodes: readonly Pick<NodeOptions, "rpcUrl" | "traffic">[];
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
  const { chainId, levels, accounts, commitments, mints, capLeftOf, rentPerByte } = options;
  const decodeBlock = createBlockDecoder();
  const nodes = options.nodes.map((node) => createNode({ ...options, ...node, decodeBlock }));
  const quorum = createQuorum(nodes, options);
  const findMintFacts = (mint: Address) =>
    mints.get(mint) ?? (mint === WRAPPED_SOL ? WRAPPED_SOL_FACTS : undefined);

  const ofLock = ({ wallet, token, seq }: { wallet: Address; token: Address; seq: bigint }) =>
    commitments.deliveryIdOf({
      srcChain: chainId,
      escrow: padAddress(accounts.escrow),
      wallet: padAddress(wallet),
      token: padAddress(token),
      seq,
    });
  const ofPayout = ({ srcChain, escrow, commitment, srcToken, seq }: Payout) =>
    commitments.deliveryIdOf({
      srcChain,
      escrow: padAddress(escrow),
      wallet: padAddress(commitments.walletOf(commitment)),
      token: padAddress(srcToken),
      seq,
    });
  const ids = {
    deliveryIdOfLock: (lock: { commitment: Commitment; token: Address; seq: bigint }) =>
      ofLock({ wallet: commitments.walletOf(lock.commitment), token: lock.token, seq: lock.seq }),
    deliveryIdOfPayout: ofPayout,
  };

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
      ids: { ofLock, ofPayout },
      capLeftOf,
    }),
    sequencing: createBlockhashSequencing(quorum),
    balances: createFinalBalances(quorum),
    wallets: createVaultWallets(accounts),
    priceFeeds: null,
    pools: null,
    cctp: null,
  };
}

/** Bytes of overhead that rent is charged for with every account. */
const ACCOUNT_OVERHEAD = 128n;

/** Returns the rent-exempt minimum of an account, in lamports. */
export function rentOf(bytes: number, lamportsPerByte: bigint): bigint {
  return (BigInt(bytes) + ACCOUNT_OVERHEAD) * lamportsPerByte;
}
