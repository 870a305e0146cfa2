/** Solana behind the chain port: some nodes, asked together, and orders to a signer in the place of contracts. */
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
import { type Accounts, type Commitments, createContracts } from "./contracts.ts";
import { WRAPPED_SOL } from "./derived-accounts.ts";
import { type MintFacts, WRAPPED_SOL_FACTS } from "./instructions.ts";
import { createFinalBalances } from "./final-balances.ts";
import { createNode } from "./node.ts";
import { createQuorum } from "./quorum.ts";
import { createReader, type Levels } from "./reader.ts";
import { createBlockhashSequencing, createSender } from "./sender.ts";

export interface SolanaChainOptions {
  /** Bridge chain id. */
  readonly chainId: number;
  /** At least one; they may carry credentials, and are never shown. */
  readonly rpcUrls: readonly string[];
  /** How many nodes must agree: more than half. */
  readonly required: number;
  /** For one request, body included. */
  readonly timeoutMs: number;
  /** Hash of the cluster's first block, which every node must serve. */
  readonly genesisHash: Hex32;
  readonly levels: Levels;
  readonly accounts: Accounts;
  readonly commitments: Commitments;
  /** Mints that are configured. Wrapped SOL is known. */
  readonly mints: ReadonlyMap<Address, MintFacts>;
  /** The vault of a commitment's hash, where one was issued. */
  readonly vaultOf: (commitment: Hex32) => Promise<Address | null>;
  /** What the signer still lets be delivered of a token, in base units. */
  readonly capLeftOf: (token: Address) => Promise<bigint>;
  /** Lamports per byte that accounts are opened with. More than the cluster asks comes back when they are closed. */
  readonly rentPerByte: bigint;
  /** Micro-lamports per compute unit: the least that is offered, and the most. */
  readonly unitPrice: { readonly min: bigint; readonly max: bigint };
  readonly clock: Clock;
  readonly log: Log;
}

/** A chain whose nodes tell of their newest final block only, and whose deposits lie in vaults of the signer. */
export interface ChainOfVaults extends Chain {
  readonly sequencing: BlockhashSequencing;
  readonly balances: FinalBalances;
  readonly wallets: VaultWallets;
}

/** The chain over its nodes. Makes no request yet: `checkIdentity` says whether they are the right ones. */
export function createSolanaChain(options: SolanaChainOptions): ChainOfVaults {
  const { chainId, levels, accounts, commitments, mints, capLeftOf, rentPerByte } = options;
  const nodes = options.rpcUrls.map((rpcUrl) => createNode({ ...options, rpcUrl }));
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
    ...createReader(quorum, { chainId, findMintFacts, levels }),
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
      walkAt: levels.walkAt,
    }),
    sequencing: createBlockhashSequencing(quorum),
    balances: createFinalBalances(quorum),
    wallets: { kind: "vault" },
    priceFeeds: null,
    pools: null,
    cctp: null,
  };
}

/** Bytes that every account counts beside its own. */
const ACCOUNT_OVERHEAD = 128n;

/** Lamports that an account of so many bytes must have. */
export function rentOf(bytes: number, lamportsPerByte: bigint): bigint {
  return (BigInt(bytes) + ACCOUNT_OVERHEAD) * lamportsPerByte;
}
