/**
 * The worker of a lane: turns queued intents into mined transactions.
 *
 * The order of writes makes a crash at any point harmless:
 *   1. the intent is committed together with the state change that needs it (`submitIntent`, in the caller's transaction);
 *   2. if several intents are queued, they are combined into a batch, permanently;
 *   3. the nonce is committed, permanently;
 *   4. the signed bytes are committed as an attempt;
 *   5. the bytes are sent; a lost answer may mean that the node accepted them, so only the same bytes are rebroadcast;
 *   6. the receipt is committed together with the change of the intent's owner.
 * After a crash the rows show how far each transaction came, and the next poll continues from there. A mined transaction is
 * followed until its block is final; an orphaned one is open again and rebroadcast.
 *
 * On a chain without nonces the order is the same, with a lifetime in place of the nonce: an attempt is rebroadcast until it
 * is mined or expired, and only then the call is signed again. The nonces of such a lane only count its transactions.
 */
import type {
  Batch,
  BlockhashSequencing,
  Chain,
  Fees,
  Lifetime,
  Receipt,
} from "../chains/port/index.ts";
import type { Address } from "../core/hex.ts";
import type { Clock, CrashPoint, Random } from "../core/ports.ts";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import type { Db, Tx } from "../db/schema.ts";
import { isHalted, nonceTaken, recordFindings } from "../ledger/index.ts";
import type { LaneSigner } from "../signers/port.ts";
import { SignerRefusal, SignerWaits } from "../signers/refusal.ts";
import { SIGNER_RETRY_MS } from "../jobs/delays.ts";
import type { Log } from "../telemetry/log.ts";
import { chainLabel, type Metrics } from "../telemetry/metrics.ts";
import { insertAttempt, listAttempts, recordSend } from "./attempts.ts";
import { assignNonces, countOpen, getNextNonce, hasWork, registerLane } from "./nonces.ts";
import * as store from "./store.ts";
import {
  type Attempt,
  type IntentName,
  kindOf,
  type LaneTransaction,
  type MinedFacts,
} from "./types.ts";

/** Called in the database transaction that records a change, so that the owner of the intent is updated with it. */
export type OnTransactionChanged = (tx: Tx, transaction: LaneTransaction) => Promise<void>;

export interface LaneDeps {
  readonly db: Db;
  readonly chain: Chain;
  readonly signer: LaneSigner;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly crashPoint: CrashPoint;
  readonly onChanged: OnTransactionChanged;
  /** Called after that database transaction is committed, so that owners poll at once. */
  readonly wakeOwners: () => void;
  readonly limits: LaneLimits;
}

export interface LaneLimits {
  /** Maximum number of open nonces. */
  readonly openMax: number;
  /** Time from signing until a stuck nonce is replaced with higher fees. */
  readonly replaceAfterMs: number;
  /** Time from a send until an accepted, unmined transaction is rebroadcast, because nodes may have dropped it. */
  readonly resendAfterMs: number;
  /** Maximum gas cost of a batch, in wei; undefined for no limit. */
  readonly batchCostMax?: bigint | undefined;
  /** Gas price cap, in the unit of `Fees`. Above it nothing is signed. */
  readonly gasPriceMax: bigint;
}

/** More than one batch takes, so that the longest batch is found among calls of several kinds. */
const QUEUE_READ_MAX = 200;

export const DEFAULT_LANE_LIMITS: LaneLimits = {
  openMax: 16,
  replaceAfterMs: 30_000,
  resendAfterMs: 10_000,
  gasPriceMax: 500_000_000_000n,
};

/** For chains where a transaction expires with its blockhash, after about a minute: rebroadcasts sooner. */
export const SHORT_LIVED_LANE_LIMITS: LaneLimits = {
  ...DEFAULT_LANE_LIMITS,
  resendAfterMs: 2_000,
};

/**
 * For lanes whose calls can be combined. Few open nonces, so that intents that arrive while those are pending form batches.
 */
export const BATCHING_LANE_LIMITS: LaneLimits = { ...DEFAULT_LANE_LIMITS, openMax: 4 };

/**
 * Queues an intent in the caller's database transaction, so that it exists if and only if the state change that needs it is
 * committed. Idempotent: a second submission of the same name changes nothing.
 */
export async function submitIntent(
  tx: Tx,
  random: Random,
  intent: {
    readonly chainId: number;
    readonly lane: Address;
    readonly intent: IntentName;
    readonly settlementId: string | null;
    readonly call: LaneTransaction["call"];
    readonly gas: bigint;
  },
): Promise<void> {
  const { call, ...rest } = intent;
  await store.insertIntent(tx, { id: random.uuid(), ...rest, ...call });
}

/**
 * Polls a lane once: combines and assigns queued intents, signs and sends them, records receipts, follows mined
 * transactions. While the chain has an open breach it only records. Returns true if the next poll should follow at once.
 * @throws OperatingError of the node or signer that blocks the lane; the transaction stays in its row for the next poll.
 */
export async function pollLane(deps: LaneDeps): Promise<boolean> {
  const { db, chain, signer } = deps;
  const lane = laneOf(signer);
  await ensureRegistered(deps);
  if (!(await hasWork(db, lane))) return false;
  const { sequencing } = chain;
  if (sequencing.kind === "blockhash") return pollByBlockhash(deps, sequencing);
  const count = await sequencing.getTransactionCount(signer.address);
  const maySend = await isSendingAllowed(deps, count);
  if (maySend) await assignQueued(deps);
  const open = await store.listByState(db, lane, "assigned");
  const mined = await store.listByState(db, lane, "mined");
  let progressed = false;
  try {
    for (const transaction of open) {
      assert(transaction.nonce !== null, "an assigned transaction has its nonce");
      if (transaction.nonce < count) {
        progressed = (await recordReceipt(deps, transaction)) || progressed;
      } else if (maySend) {
        await advance(deps, transaction, { isNext: transaction.nonce === count });
      }
    }
  } finally {
    // An error of a signer or node blocks later nonces, but not the finality of transactions mined before.
    if (mined.length > 0) await followMined(deps, mined);
  }
  return progressed;
}

/**
 * Polls a lane without nonces. Each open transaction advances on its own, so that an error of one blocks no other; the first
 * error is thrown after all of them.
 */
async function pollByBlockhash(deps: LaneDeps, sequencing: BlockhashSequencing): Promise<boolean> {
  const { db, chain, signer } = deps;
  const lane = laneOf(signer);
  const maySend = !(await isHalted(db, chain.chainId));
  if (maySend) await assignQueued(deps);
  const mined = await store.listByState(db, lane, "mined");
  const errors: OperatingError[] = [];
  let progressed = false;
  for (const transaction of await store.listByState(db, lane, "assigned")) {
    try {
      progressed = (await advanceByBlockhash(deps, sequencing, transaction, maySend)) || progressed;
    } catch (error) {
      if (!(error instanceof OperatingError)) throw error;
      errors.push(error);
    }
  }
  if (mined.length > 0) await followMined(deps, mined);
  const [firstError] = errors;
  if (firstError) throw firstError;
  return progressed;
}

/**
 * Records the receipt of a transaction, or sends it. Signs it again only when no earlier attempt can be mined: the newest
 * attempt has expired by a final block, and a search for receipts after that finds none.
 */
async function advanceByBlockhash(
  deps: LaneDeps,
  sequencing: BlockhashSequencing,
  transaction: LaneTransaction,
  maySend: boolean,
): Promise<boolean> {
  const { db, chain, clock, limits } = deps;
  const attempts = await listAttempts(db, transaction.id);
  const [newest] = attempts;
  const isExpired = newest ? await sequencing.isExpired(lifetimeOf(newest)) : false;
  const receipt = await findReceipt(chain, attempts);
  if (receipt) return recordMined(deps, transaction, receipt);
  if (!maySend) return false;
  if (!newest) deps.crashPoint(`${kindOf(transaction.intent)}.assigned`);
  if (!newest || isExpired) {
    return signForBlockhash(deps, sequencing, transaction, (newest?.number ?? 0) + 1);
  }
  if (!newest.accepted || sentLongAgo(newest, clock.now(), limits)) {
    await send(deps, transaction, newest);
  }
  return false;
}

/**
 * Signs and sends a transaction without an attempt that can still be mined. Abandons it if the signer refuses, so that its
 * owner plans again; reschedules it if the signer waits. Returns true if the transaction left its state.
 */
async function signForBlockhash(
  deps: LaneDeps,
  sequencing: BlockhashSequencing,
  transaction: LaneTransaction,
  number: number,
): Promise<boolean> {
  const { db, chain, clock, limits, log } = deps;
  const [lifetime, fees] = await Promise.all([sequencing.getLifetime(), chain.suggestFees()]);
  if (fees.gasPriceMax > limits.gasPriceMax) {
    logGasAboveCap(deps, transaction, fees);
    return false;
  }
  try {
    await signAndSend(deps, transaction, { number, fees, lifetime });
    return false;
  } catch (error) {
    if (error instanceof SignerWaits) {
      log.warn({ intent: transaction.intent, reason: error.reason }, "signer waits, rescheduled");
      await store.reschedule(db, transaction.id, clock.now() + SIGNER_RETRY_MS);
      return true;
    }
    if (!(error instanceof SignerRefusal)) throw error;
    log.error({ err: error, intent: transaction.intent }, "signer refused, transaction abandoned");
    await abandon(deps, transaction);
    return true;
  }
}

/** Moves a transaction and its members to `abandoned` and notifies their owners. */
async function abandon({ db, onChanged, wakeOwners }: LaneDeps, { id }: LaneTransaction) {
  await db.transaction().execute(async (tx) => {
    for (const abandoned of await store.recordAbandoned(tx, id)) await onChanged(tx, abandoned);
  });
  wakeOwners();
}

function lifetimeOf({ lifetime }: Attempt): Lifetime {
  assert(lifetime !== null, "an attempt on a chain without nonces has a lifetime");
  return lifetime;
}

/**
 * Reports whether the lane may sign and send. Records a breach if the chain has used nonces that were never assigned here:
 * this database is a restored backup, or the key is used elsewhere, and another transaction could pay twice.
 */
async function isSendingAllowed({ db, signer, log }: LaneDeps, count: number): Promise<boolean> {
  const { chainId, address } = signer;
  // Read after the chain's count: a nonce is assigned here before the chain can use it.
  const nextNonce = await getNextNonce(db, laneOf(signer));
  if (nextNonce !== null && count > nextNonce) {
    log.fatal({ lane: address, nextNonce, count }, "on-chain nonce is ahead of the database");
    await recordFindings(db, [nonceTaken(chainId, address, nextNonce, count)]);
  }
  return !(await isHalted(db, chainId));
}

/** Assigns nonces to queued intents up to the limit of open nonces. */
async function assignQueued(deps: LaneDeps): Promise<void> {
  const { db, signer, limits } = deps;
  const lane = laneOf(signer);
  // At the limit the queue grows, and is combined as soon as a nonce is free.
  if ((await countOpen(db, lane)) < limits.openMax) await combineQueued(deps);
  await assignNonces(db, lane, { openMax: limits.openMax, nowMs: deps.clock.now() });
}

/** Combines queued intents into one batch. Intents whose batch would revert are sent one by one. */
async function combineQueued(deps: LaneDeps): Promise<void> {
  const { db, chain, signer, limits, random, log } = deps;
  const lane = laneOf(signer);
  const queued = await store.listQueued(db, lane, QUEUE_READ_MAX);
  const batch = chain.combine(queued);
  if (!batch) return;
  if (!(await isAffordable({ chain, signer, limits, log }, batch))) return;
  const memberIds = batch.members.flatMap((position) => queued[position]?.id ?? []);
  const id = random.uuid();
  const { call, gas } = batch;
  await store.insertBatch(
    db,
    { id, chainId: lane.chainId, lane: lane.address, intent: `batch:${id}:1`, gas, ...call },
    memberIds,
  );
  log.info({ batch: id, size: memberIds.length }, "intents combined into a batch");
}

/** Reports whether a batch succeeds in simulation, and the lane can pay for it within its budget. */
async function isAffordable(
  { chain, signer, limits, log }: Pick<LaneDeps, "chain" | "signer" | "limits" | "log">,
  batch: Batch,
): Promise<boolean> {
  const size = batch.members.length;
  try {
    const simulation = await chain.simulate(signer.address, batch.call);
    if (!simulation.ok) {
      log.warn({ reason: simulation.reason, size }, "batch would revert, sending one by one");
      return false;
    }
    const { gasPriceMax } = await chain.suggestFees();
    const exceedsBudget =
      limits.batchCostMax !== undefined &&
      chain.costOf(batch.gas, gasPriceMax) > limits.batchCostMax;
    if (exceedsBudget) log.warn({ size }, "batch cost above its budget, sending one by one");
    return !exceedsBudget;
  } catch (error) {
    // The lane cannot pay for the batch, or no node answered. Open transactions continue.
    if (!(error instanceof OperatingError)) throw error;
    log.warn({ err: error, size }, "batch simulation failed, sending one by one");
    return false;
  }
}

/** Registers the lane before its first use, with the chain's transaction count as its next nonce. */
async function ensureRegistered(deps: LaneDeps): Promise<void> {
  const { db, chain, signer } = deps;
  const lane = laneOf(signer);
  if ((await getNextNonce(db, lane)) !== null) return;
  const { sequencing } = chain;
  const nextNonce =
    sequencing.kind === "nonce" ? await sequencing.getTransactionCount(signer.address) : 0;
  await registerLane(db, { ...lane, purpose: signer.purpose, nextNonce });
}

/** Records the receipt of a transaction whose nonce the chain has used. Returns false if no attempt has a receipt. */
async function recordReceipt(deps: LaneDeps, transaction: LaneTransaction): Promise<boolean> {
  const { db, chain, log } = deps;
  const attempts = await listAttempts(db, transaction.id);
  const receipt = await findReceipt(chain, attempts);
  if (!receipt) {
    // The node lags, or the key was used elsewhere. Another nonce could pay twice, so an operator must investigate.
    log.error(
      { intent: transaction.intent, nonce: transaction.nonce, lane: transaction.lane },
      "nonce used on chain, but no attempt has a receipt",
    );
    return false;
  }
  return recordMined(deps, transaction, receipt);
}

/**
 * Records the receipt of a transaction and of its members, each with its own outcome, and notifies their owners in the same
 * database transaction. Idempotent: a concurrent poll that recorded it first wins.
 */
async function recordMined(
  deps: LaneDeps,
  transaction: LaneTransaction,
  receipt: Receipt,
): Promise<true> {
  const { db, chain, log, crashPoint, onChanged } = deps;
  crashPoint(`${kindOf(transaction.intent)}.mined`);
  const facts: MinedFacts = {
    txHash: receipt.txHash,
    blockHash: receipt.blockHash,
    blockNumber: receipt.blockNumber,
    succeeded: receipt.succeeded,
    gasCost: receipt.gasCost,
  };
  await db.transaction().execute(async (tx) => {
    if (!(await store.recordMined(tx, transaction.id, facts))) return;
    await onChanged(tx, { ...transaction, state: "mined", mined: facts });
    for (const member of await store.listMembers(tx, transaction.id)) {
      const own = { ...facts, succeeded: chain.tookEffect(receipt, member.call) };
      await store.recordMined(tx, member.id, own);
      await onChanged(tx, { ...member, state: "mined", mined: own });
    }
  });
  crashPoint(`${kindOf(transaction.intent)}.recorded`);
  deps.wakeOwners();
  if (!facts.succeeded) deps.metrics.laneReverts.inc(labelsOf(deps.signer));
  log.info(
    { intent: transaction.intent, txHash: facts.txHash, succeeded: facts.succeeded },
    "mined",
  );
  return true;
}

/** Returns the receipt of any attempt, newest first, or null: a replaced attempt may be the one that is mined. */
async function findReceipt(chain: Chain, attempts: readonly Attempt[]): Promise<Receipt | null> {
  for (const attempt of attempts) {
    const receipt = await chain.getReceipt(attempt.hash);
    if (receipt) return receipt;
  }
  return null;
}

/** Advances an unmined transaction: signs and sends it, rebroadcasts it, or replaces it if it is the lowest open nonce. */
async function advance(
  deps: LaneDeps,
  transaction: LaneTransaction,
  position: { readonly isNext: boolean },
): Promise<void> {
  const { db, chain, clock, limits } = deps;
  const [newest] = await listAttempts(db, transaction.id);
  if (!newest) {
    deps.crashPoint(`${kindOf(transaction.intent)}.assigned`);
    const fees = await chain.suggestFees();
    if (fees.gasPriceMax <= limits.gasPriceMax) {
      await signAndSend(deps, transaction, { number: 1, fees });
    } else {
      logGasAboveCap(deps, transaction, fees);
    }
    return;
  }
  const overdue = clock.now() - newest.signedAtMs >= limits.replaceAfterMs;
  const fees =
    overdue && position.isNext ? raiseFees(newest, await chain.suggestFees(), limits) : null;
  if (fees && (await tryReplace(deps, transaction, newest.number + 1, fees))) return;
  if (!newest.accepted || sentLongAgo(newest, clock.now(), limits)) {
    await send(deps, transaction, newest);
  }
}

function logGasAboveCap({ log }: LaneDeps, { intent }: LaneTransaction, fees: Fees): void {
  const gasPriceMax = fees.gasPriceMax.toString();
  log.error({ intent, gasPriceMax }, "gas price above cap, waiting");
}

/** Signs and sends a replacement. Returns false if the signer failed: the earlier attempt stays valid and is rebroadcast. */
async function tryReplace(
  deps: LaneDeps,
  transaction: LaneTransaction,
  number: number,
  fees: Fees,
): Promise<boolean> {
  try {
    await signAndSend(deps, transaction, { number, fees });
    deps.metrics.laneReplacements.inc(labelsOf(deps.signer));
    return true;
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    deps.log.error(
      { err: error, intent: transaction.intent },
      "replacement failed, keeping the attempt",
    );
    return false;
  }
}

/** Reports whether an attempt is due for a rebroadcast: a node may have dropped it from its mempool. */
function sentLongAgo(attempt: Attempt, nowMs: number, limits: LaneLimits): boolean {
  return attempt.sentAtMs === null || nowMs - attempt.sentAtMs >= limits.resendAfterMs;
}

/**
 * Signs a transaction, commits the attempt, then sends it. If another process committed this attempt first, sends nothing:
 * that process sends its own bytes.
 */
async function signAndSend(
  deps: LaneDeps,
  transaction: LaneTransaction,
  {
    number,
    fees,
    lifetime,
  }: { readonly number: number; readonly fees: Fees; readonly lifetime?: Lifetime | undefined },
): Promise<void> {
  const { db, signer, clock, crashPoint } = deps;
  assert(transaction.nonce !== null, "only an assigned transaction is signed");
  const { call, nonce, gas } = transaction;
  const signed = await signer.sign({ call, nonce, gas, fees, lifetime });
  const { hash, raw } = signed;
  const signedAtMs = clock.now();
  const attempt = { hash, number, raw, ...fees, lifetime: lifetime ?? null, signedAtMs };
  const first = await insertAttempt(db, transaction.id, attempt);
  if (!first) return;
  crashPoint(`${kindOf(transaction.intent)}.signed`);
  await send(deps, transaction, { ...attempt, sentAtMs: null, accepted: false });
}

/** Sends the committed bytes of an attempt and records the node's answer. */
async function send(deps: LaneDeps, transaction: LaneTransaction, attempt: Attempt): Promise<void> {
  const { db, chain, clock, log, crashPoint } = deps;
  const outcome = await chain.send(attempt.raw);
  crashPoint(`${kindOf(transaction.intent)}.sent`);
  const accepted = outcome === "accepted" || outcome === "known";
  await recordSend(db, attempt.hash, { nowMs: clock.now(), accepted });
  const facts = { intent: transaction.intent, txHash: attempt.hash, outcome };
  if (accepted) log.info(facts, "sent");
  else if (outcome === "insufficient_funds") log.error(facts, "lane out of gas");
  else log.warn(facts, "send failed, retrying with the same bytes");
}

/** Returns the fees of a replacement: both raised by at least 12.5 % (nodes require 10 %). Returns null above the cap. */
function raiseFees(newest: Attempt, market: Fees, limits: LaneLimits): Fees | null {
  const raise = (fee: bigint) => (fee * 1125n) / 1000n + 1n;
  const gasPriceMax = max(market.gasPriceMax, raise(newest.gasPriceMax));
  const tipMax = max(market.tipMax, raise(newest.tipMax));
  return gasPriceMax > limits.gasPriceMax ? null : { gasPriceMax, tipMax };
}

/** Follows mined transactions until final. A transaction in an orphaned block is open again, with its members. */
async function followMined(deps: LaneDeps, mined: readonly LaneTransaction[]): Promise<void> {
  const { db, chain, log, onChanged } = deps;
  const finalNumber = await chain.getFinalNumber();
  for (const transaction of mined) {
    assert(transaction.mined !== null, "a mined transaction names its block");
    const block = await chain.getBlock(transaction.mined.blockNumber);
    if (block === null && (await chain.getHead()).number < transaction.mined.blockNumber) {
      // The node is behind this block, so it cannot say yet whether the block is orphaned.
      continue;
    }
    if (block?.hash !== transaction.mined.blockHash) {
      await db.transaction().execute(async (tx) => {
        if (!(await store.recordOrphaned(tx, transaction.id))) return;
        await onChanged(tx, { ...transaction, state: "assigned", mined: null });
        for (const member of await store.listMembers(tx, transaction.id)) {
          await store.recordOrphaned(tx, member.id);
          await onChanged(tx, { ...member, state: "carried", mined: null });
        }
      });
      deps.wakeOwners();
      log.warn({ intent: transaction.intent }, "reorg: transaction orphaned");
    } else if (transaction.mined.blockNumber <= finalNumber) {
      await db.transaction().execute(async (tx) => {
        if (!(await store.recordFinal(tx, transaction.id))) return;
        await onChanged(tx, { ...transaction, state: "final" });
        for (const member of await store.listMembers(tx, transaction.id)) {
          await store.recordFinal(tx, member.id);
          await onChanged(tx, { ...member, state: "final" });
        }
      });
      deps.wakeOwners();
    }
  }
}

function laneOf(signer: LaneSigner): { chainId: number; address: Address } {
  return { chainId: signer.chainId, address: signer.address };
}

/** Returns the labels of a lane's metrics. */
function labelsOf({ chainId, purpose, address }: LaneSigner) {
  return { chain: chainLabel(chainId), purpose, account: address };
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
