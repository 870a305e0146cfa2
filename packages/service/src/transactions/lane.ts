/**
 * A lane's worker: turns queued intents into mined transactions.
 *
 * Order of writes, which is what makes a crash harmless:
 *   1. the intent is committed with the state change that wants it (`submitIntent`, in the caller's transaction);
 *   2. when a queue stands, several intents are put into one transaction that carries them, for ever;
 *   3. its nonce is committed, for ever;
 *   4. the signed bytes are committed as an attempt;
 *   5. the bytes are sent; an answer that did not come may still mean yes, so only the same bytes are sent again;
 *   6. the receipt is committed, together with the wake-up of whoever wanted the effect.
 * After a crash each row says how far it came, and the next look goes on from there. A mined transaction is followed
 * until its block is final; one whose block left the chain is open again and its bytes are sent again.
 *
 * On a chain without nonces the same order holds, with a lifetime in the nonce's place: what was signed is sent until it is
 * mined or can no longer be, and only then the call is signed anew. Their nonces only count what was given out.
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

/** Called in the transaction that records a change of a mined transaction: wakes whoever waits for it. */
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
  /** Called once that is committed: whoever waits may look now. */
  readonly wakeOwners: () => void;
  readonly limits: LaneLimits;
}

export interface LaneLimits {
  /** Open nonces at once. */
  readonly openMax: number;
  /** A blocked nonce is replaced with higher fees after this long. */
  readonly replaceAfterMs: number;
  /** What a node accepted and nobody mined is offered again after this long: it may have been dropped. */
  readonly resendAfterMs: number;
  /** The most that one batch may commit to gas, in wei; undefined for any. */
  readonly batchCostMax?: bigint | undefined;
  /** The most that is ever offered, in wei per gas; dearer gas is waited out. */
  readonly maxFeePerGas: bigint;
}

/** More than one batch takes, so that the longest is found among calls of several kinds. */
const QUEUE_LOOK_MAX = 200;

export const DEFAULT_LANE_LIMITS: LaneLimits = {
  openMax: 16,
  replaceAfterMs: 30_000,
  resendAfterMs: 10_000,
  maxFeePerGas: 500_000_000_000n,
};

/** Where transactions live by a blockhash: what is lost is missed sooner, as it lives for a minute or so. */
export const SHORT_LIVED_LANE_LIMITS: LaneLimits = {
  ...DEFAULT_LANE_LIMITS,
  resendAfterMs: 2_000,
};

/**
 * Lanes whose calls can go together send a few by themselves; what comes while those are on the way goes together.
 */
export const BATCHING_LANE_LIMITS: LaneLimits = { ...DEFAULT_LANE_LIMITS, openMax: 4 };

/**
 * Queues an intent in the caller's transaction, so that it exists if and only if the state change that wants it does.
 * The same intent again changes nothing.
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
 * One look at the lane: combines, assigns, sends, records what was mined. On a chain with an open breach it only records.
 * Returns true when there may be more to do at once.
 */
export async function pollLane(deps: LaneDeps): Promise<boolean> {
  const { db, chain, signer } = deps;
  const lane = laneOf(signer);
  await ensureRegistered(deps);
  if (!(await hasWork(db, lane))) return false;
  const { sequencing } = chain;
  if (sequencing.kind === "blockhash") return lookByBlockhash(deps, sequencing);
  const count = await sequencing.getTransactionCount(signer.address);
  const mayMove = await isFreeToMove(deps, count);
  if (mayMove) await assignQueued(deps);
  const open = await store.listByState(db, lane, "assigned");
  const mined = await store.listByState(db, lane, "mined");
  let progressed = false;
  try {
    for (const transaction of open) {
      assert(transaction.nonce !== null, "an assigned transaction has its nonce");
      if (transaction.nonce < count) {
        progressed = (await recordReceipt(deps, transaction)) || progressed;
      } else if (mayMove) {
        await pursue(deps, transaction, { isNext: transaction.nonce === count });
      }
    }
  } finally {
    // What a signer refuses, or a node chokes on, holds up what comes after it, not what was mined before.
    if (mined.length > 0) await followMined(deps, mined);
  }
  return progressed;
}

/**
 * The look at a lane without nonces: each of its open transactions is brought forward by itself, and what cannot be holds up
 * none of the others. Throws the first trouble, after all of them.
 */
async function lookByBlockhash(deps: LaneDeps, sequencing: BlockhashSequencing): Promise<boolean> {
  const { db, chain, signer } = deps;
  const lane = laneOf(signer);
  const mayMove = !(await isHalted(db, chain.chainId));
  if (mayMove) await assignQueued(deps);
  const mined = await store.listByState(db, lane, "mined");
  const troubles: OperatingError[] = [];
  let progressed = false;
  for (const transaction of await store.listByState(db, lane, "assigned")) {
    try {
      progressed = (await pursueByBlockhash(deps, sequencing, transaction, mayMove)) || progressed;
    } catch (error) {
      if (!(error instanceof OperatingError)) throw error;
      troubles.push(error);
    }
  }
  if (mined.length > 0) await followMined(deps, mined);
  const [trouble] = troubles;
  if (trouble) throw trouble;
  return progressed;
}

/**
 * Records what was mined of a transaction, else sends it. It is signed anew only when nothing that was signed before can
 * be mined any more: a final block is too high for it, and a look after that finds none of it.
 */
async function pursueByBlockhash(
  deps: LaneDeps,
  sequencing: BlockhashSequencing,
  transaction: LaneTransaction,
  mayMove: boolean,
): Promise<boolean> {
  const { db, chain, clock, limits } = deps;
  const attempts = await listAttempts(db, transaction.id);
  const [newest] = attempts;
  const isExpired = newest ? await sequencing.isExpired(lifetimeOf(newest)) : false;
  const receipt = await findReceipt(chain, attempts);
  if (receipt) return recordMined(deps, transaction, receipt);
  if (!mayMove) return false;
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
 * Signs what nothing else of can be mined. What the signer refuses now is abandoned: whoever wanted it plans anew. What it
 * does not sign yet goes back into the queue.
 */
async function signForBlockhash(
  deps: LaneDeps,
  sequencing: BlockhashSequencing,
  transaction: LaneTransaction,
  number: number,
): Promise<boolean> {
  const { db, chain, clock, limits, log } = deps;
  const [lifetime, fees] = await Promise.all([sequencing.getLifetime(), chain.suggestFees()]);
  if (fees.maxFeePerGas > limits.maxFeePerGas) {
    sayTooDear(deps, transaction, fees);
    return false;
  }
  try {
    await signAndSend(deps, transaction, { number, fees, lifetime });
    return false;
  } catch (error) {
    if (error instanceof SignerWaits) {
      log.warn({ intent: transaction.intent, reason: error.reason }, "the signer waits, put off");
      await store.putOff(db, transaction.id, clock.now() + SIGNER_RETRY_MS);
      return true;
    }
    if (!(error instanceof SignerRefusal)) throw error;
    log.error({ err: error, intent: transaction.intent }, "the signer refuses, abandoned");
    await abandon(deps, transaction);
    return true;
  }
}

async function abandon({ db, onChanged, wakeOwners }: LaneDeps, { id }: LaneTransaction) {
  await db.transaction().execute(async (tx) => {
    for (const abandoned of await store.recordAbandoned(tx, id)) await onChanged(tx, abandoned);
  });
  wakeOwners();
}

function lifetimeOf({ lifetime }: Attempt): Lifetime {
  assert(lifetime !== null, "what is signed for a chain without nonces has a lifetime");
  return lifetime;
}

/**
 * Whether the lane may sign and send. Not when the chain used nonces that were never given out here: then this database
 * is older than the chain, or somebody else has the key, and the next nonce would pay for the second time what was paid.
 */
async function isFreeToMove({ db, signer, log }: LaneDeps, count: number): Promise<boolean> {
  const { chainId, address } = signer;
  // Read after the chain was: a nonce is given out before the chain can use it.
  const nextNonce = await getNextNonce(db, laneOf(signer));
  if (nextNonce !== null && count > nextNonce) {
    log.fatal({ lane: address, nextNonce, count }, "the chain used nonces that are not ours");
    await recordFindings(db, [nonceTaken(chainId, address, nextNonce, count)]);
  }
  return !(await isHalted(db, chainId));
}

/** Gives nonces to what waits, as long as few enough are open. */
async function assignQueued(deps: LaneDeps): Promise<void> {
  const { db, signer, limits } = deps;
  const lane = laneOf(signer);
  // While there is no room the queue grows, and goes as one when there is.
  if ((await countOpen(db, lane)) < limits.openMax) await combineQueued(deps);
  await assignNonces(db, lane, { openMax: limits.openMax, nowMs: deps.clock.now() });
}

/** When a queue stands, what can go together goes together. What would revert as a whole goes one by one. */
async function combineQueued(deps: LaneDeps): Promise<void> {
  const { db, chain, signer, limits, random, log } = deps;
  const lane = laneOf(signer);
  const queued = await store.listQueued(db, lane, QUEUE_LOOK_MAX);
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
  log.info({ batch: id, size: memberIds.length }, "combined");
}

/** Whether a batch runs, and can be paid for by the lane and under its budget: else its members go by themselves. */
async function isAffordable(
  { chain, signer, limits, log }: Pick<LaneDeps, "chain" | "signer" | "limits" | "log">,
  batch: Batch,
): Promise<boolean> {
  const size = batch.members.length;
  try {
    const simulation = await chain.simulate(signer.address, batch.call);
    if (!simulation.ok) {
      log.warn({ reason: simulation.reason, size }, "a batch would revert");
      return false;
    }
    const { maxFeePerGas } = await chain.suggestFees();
    const isTooDear =
      limits.batchCostMax !== undefined &&
      chain.costOf(batch.gas, maxFeePerGas) > limits.batchCostMax;
    if (isTooDear) log.warn({ size }, "a batch would cost too much of the daily budget");
    return !isTooDear;
  } catch (error) {
    // Without money for all of it, or without an answer: what the lane has open goes on meanwhile.
    if (!(error instanceof OperatingError)) throw error;
    log.warn({ err: error, size }, "a batch could not be tried");
    return false;
  }
}

/** Makes the lane known before its first use; its nonces go on from the chain's count. */
async function ensureRegistered(deps: LaneDeps): Promise<void> {
  const { db, chain, signer } = deps;
  const lane = laneOf(signer);
  if ((await getNextNonce(db, lane)) !== null) return;
  const { sequencing } = chain;
  const nextNonce =
    sequencing.kind === "nonce" ? await sequencing.getTransactionCount(signer.address) : 0;
  await registerLane(db, { ...lane, purpose: signer.purpose, nextNonce });
}

/** Looks for the receipt of any attempt of a nonce that the chain has used. */
async function recordReceipt(deps: LaneDeps, transaction: LaneTransaction): Promise<boolean> {
  const { db, chain, log } = deps;
  const attempts = await listAttempts(db, transaction.id);
  const receipt = await findReceipt(chain, attempts);
  if (!receipt) {
    // A lagging node, or somebody else used this nonce. Planning anew could pay twice, so a person must look.
    log.error(
      { intent: transaction.intent, nonce: transaction.nonce, lane: transaction.lane },
      "the chain used a nonce of ours and no attempt of ours has a receipt",
    );
    return false;
  }
  return recordMined(deps, transaction, receipt);
}

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

async function findReceipt(chain: Chain, attempts: readonly Attempt[]): Promise<Receipt | null> {
  for (const attempt of attempts) {
    const receipt = await chain.getReceipt(attempt.hash);
    if (receipt) return receipt;
  }
  return null;
}

/** Brings an unmined transaction forward: signs it, sends it, sends it again, or replaces it. */
async function pursue(
  deps: LaneDeps,
  transaction: LaneTransaction,
  position: { readonly isNext: boolean },
): Promise<void> {
  const { db, chain, clock, limits } = deps;
  const [newest] = await listAttempts(db, transaction.id);
  if (!newest) {
    deps.crashPoint(`${kindOf(transaction.intent)}.assigned`);
    const fees = await chain.suggestFees();
    if (fees.maxFeePerGas <= limits.maxFeePerGas) {
      await signAndSend(deps, transaction, { number: 1, fees });
    } else {
      sayTooDear(deps, transaction, fees);
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

function sayTooDear({ log }: LaneDeps, { intent }: LaneTransaction, fees: Fees): void {
  const maxFeePerGas = fees.maxFeePerGas.toString();
  log.error({ intent, maxFeePerGas }, "gas is dearer than the cap, waiting");
}

/** False when the replacement could not be signed: what was signed before is still good, and is offered again. */
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
    deps.log.error({ err: error, intent: transaction.intent }, "could not be replaced");
    return false;
  }
}

/** A node may have forgotten what it accepted: the same bytes are offered again now and then. */
function sentLongAgo(attempt: Attempt, nowMs: number, limits: LaneLimits): boolean {
  return attempt.sentAtMs === null || nowMs - attempt.sentAtMs >= limits.resendAfterMs;
}

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

/** Sends committed bytes and notes what the node said. */
async function send(deps: LaneDeps, transaction: LaneTransaction, attempt: Attempt): Promise<void> {
  const { db, chain, clock, log, crashPoint } = deps;
  const outcome = await chain.send(attempt.raw);
  crashPoint(`${kindOf(transaction.intent)}.sent`);
  const accepted = outcome === "accepted" || outcome === "known";
  await recordSend(db, attempt.hash, { nowMs: clock.now(), accepted });
  const facts = { intent: transaction.intent, txHash: attempt.hash, outcome };
  if (accepted) log.info(facts, "sent");
  else if (outcome === "insufficient_funds") log.error(facts, "the lane has no money for gas");
  else log.warn(facts, "not accepted, will look and send the same bytes again");
}

/** Fees of a replacement: at least 12.5 % more in both (nodes ask for 10 %), or null at the cap. */
function raiseFees(newest: Attempt, market: Fees, limits: LaneLimits): Fees | null {
  const raise = (fee: bigint) => (fee * 1125n) / 1000n + 1n;
  const maxFeePerGas = max(market.maxFeePerGas, raise(newest.maxFeePerGas));
  const maxPriorityFeePerGas = max(market.maxPriorityFeePerGas, raise(newest.maxPriorityFeePerGas));
  return maxFeePerGas > limits.maxFeePerGas ? null : { maxFeePerGas, maxPriorityFeePerGas };
}

/** Follows mined transactions until final: a block that left the chain opens them again. */
async function followMined(deps: LaneDeps, mined: readonly LaneTransaction[]): Promise<void> {
  const { db, chain, log, onChanged } = deps;
  const finalNumber = await chain.getFinalNumber();
  for (const transaction of mined) {
    assert(transaction.mined !== null, "a mined transaction names its block");
    const block = await chain.getBlock(transaction.mined.blockNumber);
    if (block === null && (await chain.getHead()).number < transaction.mined.blockNumber) {
      // The node has not come that far, or has gone back: it says nothing about this block yet.
      continue;
    }
    if (block?.hash !== transaction.mined.blockHash) {
      await db.transaction().execute(async (tx) => {
        if (!(await store.recordUnmined(tx, transaction.id))) return;
        await onChanged(tx, { ...transaction, state: "assigned", mined: null });
        for (const member of await store.listMembers(tx, transaction.id)) {
          await store.recordUnmined(tx, member.id);
          await onChanged(tx, { ...member, state: "carried", mined: null });
        }
      });
      deps.wakeOwners();
      log.warn({ intent: transaction.intent }, "its block left the chain, open again");
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

/** How metrics name a lane. */
function labelsOf({ chainId, purpose, address }: LaneSigner) {
  return { chain: chainLabel(chainId), purpose, account: address };
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
