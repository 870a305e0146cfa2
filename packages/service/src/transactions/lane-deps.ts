/** Dependencies and limits of a lane. */
import type { Chain } from "../chains/port/index.ts";
import type { Address, TxHash } from "../core/hex.ts";
import type { Clock, CrashPoint, Random } from "../core/ports.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { Queue } from "../jobs/due.ts";
import type { LaneSigner } from "../signers/port.ts";
import type { Log } from "../telemetry/log.ts";
import { chainLabel, type Metrics } from "../telemetry/metrics.ts";
import { inSpan } from "../telemetry/spans.ts";
import type { LaneTransaction, TransactionFacts } from "./types.ts";

/**
 * Called in the database transaction that records changes, so that the owners of the intents are updated with it. Returns the
 * queues of the owners that it made due.
 */
export type OnTransactionsChanged = (
  tx: Tx,
  transactions: readonly TransactionFacts[],
) => Promise<readonly Queue[]>;

/** Dependencies of one lane. */
export interface LaneDeps {
  readonly db: Db;
  readonly chain: Chain;
  /** The chain for a lane with a claim or return, whose requests may use the reserve of a node's daily budget. */
  readonly endingChain?: Chain;
  readonly signer: LaneSigner;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly crashPoint: CrashPoint;
  readonly onChanged: OnTransactionsChanged;
  /** Called after that database transaction is committed, so that owners poll at once. */
  readonly wakeOwners: (queues: readonly Queue[]) => void;
  readonly limits: LaneLimits;
  /** Returns the gas price cap of a claim, given the lane's; absent where claims have no other. */
  readonly readClaimCap?: (claim: LaneTransaction, cap: bigint) => Promise<bigint>;
  /** When mined transactions are looked up, by id. Lost at a restart: then all are looked up at once. */
  readonly follows: Map<string, FollowTimes>;
  /** Facts about the lane's unmined transactions. Lost at a restart: then they are read again. */
  readonly waits: LaneWaits;
}

/** Reasons of a lane to wait. */
export interface LaneWaits {
  /** Head at the first check of the attempt that blocks the lane. Fees are raised only when the head is past it. */
  stuck: { readonly hash: TxHash; readonly head: bigint } | null;
  /** Time before which nothing new is signed, because the gas price is above the cap. */
  signAfterMs: number;
  /** Time before which a nonce that was used without a receipt is not looked up at a final block again. */
  usedNonceAfterMs: number;
  /** Whether the lane has its row, which is never deleted. */
  isRegistered: boolean;
  /** Whether the last poll found nothing to send and nothing to follow. A new intent wakes the lane. */
  isAtRest: boolean;
  /** How long the last transactions waited for finality, in milliseconds. */
  finalAfterMs: readonly number[];
}

export function createLaneWaits(): LaneWaits {
  return {
    stuck: null,
    signAfterMs: 0,
    usedNonceAfterMs: 0,
    isRegistered: false,
    isAtRest: false,
    finalAfterMs: [],
  };
}

/** Times of a mined transaction that is not final. */
export interface FollowTimes {
  readonly sinceMs: number;
  readonly polledMs: number;
  readonly dueMs: number;
}

/** Limits that a lane keeps. */
export interface LaneLimits {
  /** Maximum number of open nonces. */
  readonly openMax: number;
  /** Maximum number of open nonces where those beyond `openMax` are of full batches; no more than `openMax` for none. */
  readonly openFullMax: number;
  /** Time from signing until a stuck nonce is replaced with higher fees the first time. */
  readonly replaceAfterMs: number;
  /** Time until an accepted, unmined transaction is rebroadcast the first time, because nodes may have dropped it. */
  readonly resendAfterMs: number;
  /** Time until a transaction that no node accepted is sent again the first time. */
  readonly refusedAfterMs: number;
  /** Longest time until a transaction is sent again. */
  readonly resendMaxMs: number;
  /** Maximum gas cost of a batch, in wei; undefined for no limit. */
  readonly batchCostMax?: bigint | undefined;
  /** Gas price cap, in the unit of `Fees`. Above it nothing is signed. */
  readonly gasPriceMax: bigint;
}

/** Time between two final reads of a nonce that was used without a receipt. */
export const USED_NONCE_RETRY_MS = 10_000;

/** Time between two readings of a gas price that is above the cap. */
export const GAS_ABOVE_CAP_RETRY_MS = 5_000;

/** For chains where a transaction stays valid until its nonce is used. */
export const DEFAULT_LANE_LIMITS: LaneLimits = {
  openMax: 16,
  openFullMax: 16,
  replaceAfterMs: 30_000,
  resendAfterMs: 10_000,
  refusedAfterMs: 500,
  resendMaxMs: 60_000,
  gasPriceMax: 500_000_000_000n,
};

/** For chains where a transaction expires with its blockhash, after about a minute: rebroadcasts sooner. */
export const SHORT_LIVED_LANE_LIMITS: LaneLimits = {
  ...DEFAULT_LANE_LIMITS,
  resendAfterMs: 2_000,
  resendMaxMs: 2_000,
};

/**
 * For lanes whose calls can be combined. Few open nonces, so that intents that arrive while those are pending form batches; more
 * where batches are full. With those that claims and the oldest single call get beyond them, they are no more than the 16 which
 * a node keeps of an account at least.
 */
export const BATCHING_LANE_LIMITS: LaneLimits = {
  ...DEFAULT_LANE_LIMITS,
  openMax: 4,
  openFullMax: 11,
};

/** Runs work about a transaction as a trace of its own. */
export function traced<Result>(
  { settlementId, chainId, intent }: TransactionFacts,
  work: () => Promise<Result>,
): Promise<Result> {
  return inSpan("transaction", { settlementId, chainId, intent }, work);
}

/** Returns the key of a lane in the database. */
export function laneOf(signer: LaneSigner): { chainId: number; address: Address } {
  return { chainId: signer.chainId, address: signer.address };
}

/** Returns the labels of a lane's metrics. */
export function labelsOf({ chainId, purpose, address }: LaneSigner) {
  return { chain: chainLabel(chainId), purpose, account: address };
}
