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
 * While the chain has an open breach, a lane records receipts and sends claims at most: a claim pays the treasury for a payout
 * that is final, and a lock that is not claimed in time can be taken back.
 *
 * On a chain without nonces the order is the same, with a lifetime in place of the nonce: an attempt is rebroadcast until it
 * is mined or expired, and only then the call is signed again. The nonces of such a lane only count its transactions.
 */
import type { Batch, BlockhashSequencing, Lifetime } from "../chains/port/index.ts";
import type { Address } from "../core/hex.ts";
import type { Random } from "../core/ports.ts";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import { gatherCalls } from "../db/gather.ts";
import type { Tx } from "../db/schema.ts";
import { type Halt, nonceTaken, readHalt, recordFindings } from "../ledger/index.ts";
import { SignerRefusal, SignerWaits } from "../signers/refusal.ts";
import { SIGNER_RETRY_MS } from "../jobs/delays.ts";
import { listAttempts } from "./attempts.ts";
import {
  assignNonces,
  countOpen,
  findWork,
  getNextNonce,
  hasEnding,
  registerLane,
} from "./nonces.ts";
import * as store from "./store.ts";
import { type Attempt, type IntentName, kindOf, type LaneTransaction } from "./types.ts";
import { resendAtOf } from "./fees.ts";
import { listClaims } from "./gas-cap.ts";
import { advance } from "./lane-advance.ts";
import { readFeesBelowCap, send, signAndSend } from "./lane-send.ts";
import { type LaneDeps, laneOf, traced } from "./lane-deps.ts";
import { findReceipt, followMined, recordMined, recordReceipts } from "./lane-mined.ts";

/** As many as the batches take that a poll may send. */
const QUEUE_READ_MAX = 400;

/** Nonces beyond the limit of open ones that only claims get. */
const CLAIM_NONCES = 4;

/** A call for a lane, and the name that makes it unique. */
export interface Intent {
  readonly chainId: number;
  readonly lane: Address;
  readonly intent: IntentName;
  readonly settlementId: string | null;
  readonly call: LaneTransaction["call"];
  readonly gas: bigint;
}

/**
 * Queues an intent in the caller's database transaction, so that it exists if and only if the state change that needs it is
 * committed. Idempotent: a second submission of the same name changes nothing.
 */
export function submitIntent(tx: Tx, random: Random, intent: Intent): Promise<void> {
  return insertIntent(tx, toRow(random, intent));
}

const insertIntent = gatherCalls(async (tx, rows: readonly store.NewIntent[]) => {
  await store.insertIntents(tx, rows);
  return rows.map(() => undefined);
});

/** Queues several intents like `submitIntent`. */
export async function submitIntents(
  tx: Tx,
  random: Random,
  intents: readonly Intent[],
): Promise<void> {
  await store.insertIntents(
    tx,
    intents.map((intent) => toRow(random, intent)),
  );
}

function toRow(random: Random, { call, ...rest }: Intent): store.NewIntent {
  return { id: random.uuid(), ...rest, ...call };
}

/**
 * Polls a lane once: combines and assigns queued intents, signs and sends them, records receipts, follows mined
 * transactions. While the chain has an open breach it records, and sends claims at most. Returns true if the next poll should
 * follow at once.
 * @throws OperatingError of the node or signer that blocks the lane; the transaction stays in its row for the next poll.
 */
export async function pollLane(given: LaneDeps): Promise<boolean> {
  const { db, signer, endingChain } = given;
  const lane = laneOf(signer);
  await ensureRegistered(given);
  const work = await findWork(db, lane);
  given.waits.isAtRest = work === "none";
  if (work === "none") return false;
  const deps =
    endingChain && (await hasEnding(db, lane)) ? { ...given, chain: endingChain } : given;
  const { chain } = deps;
  const { sequencing } = chain;
  if (sequencing.kind === "blockhash") return pollByBlockhash(deps, sequencing);
  if (work === "follow") {
    await followMined(deps, await store.listMined(db, lane));
    return false;
  }
  const count = await sequencing.getTransactionCount(signer.address);
  const halt = await checkHalt(deps, count);
  if (work === "assign") await assignQueued(deps, halt);
  const [open, mined] = await Promise.all([
    store.listAssigned(db, lane),
    store.listMined(db, lane),
  ]);
  const used = open.filter((transaction) => nonceOf(transaction) < count);
  try {
    const progressed = used.length > 0 && (await recordReceipts(deps, used));
    const sendable: LaneTransaction[] = [];
    for (const transaction of open.slice(used.length)) {
      if (await maySend(deps, transaction, halt)) sendable.push(transaction);
    }
    await sendInOrder(deps, sendable, count);
    return progressed;
  } finally {
    // An error of a signer or node blocks later nonces, but not the finality of transactions mined before.
    if (mined.length > 0) await followMined(deps, mined);
  }
}

function nonceOf({ nonce }: LaneTransaction): number {
  assert(nonce !== null, "an assigned transaction has its nonce");
  return nonce;
}

/** Signs and sends transactions, lowest nonce first, until one keeps those behind it from being sent. */
async function sendInOrder(
  deps: LaneDeps,
  transactions: readonly LaneTransaction[],
  count: number,
): Promise<void> {
  // Read before the first is sent: nothing of this poll changes the attempts of a later one.
  const attempts = await Promise.all(transactions.map(({ id }) => listAttempts(deps.db, id)));
  const unsigned = transactions.filter(
    ({ intent }, place) => kindOf(intent) === "batch" && attempts[place]?.length === 0,
  );
  await Promise.all(unsigned.map((batch) => store.readMembers(deps.db, batch)));
  for (const [place, transaction] of transactions.entries()) {
    const position = { attempts: attempts[place] ?? [], isNext: transaction.nonce === count };
    if (!(await traced(transaction, () => advance(deps, transaction, position)))) return;
  }
}

/**
 * Polls a lane without nonces. Each open transaction advances on its own, so that an error of one blocks no other; the first
 * error is thrown after all of them.
 */
async function pollByBlockhash(deps: LaneDeps, sequencing: BlockhashSequencing): Promise<boolean> {
  const { db, chain, signer } = deps;
  const lane = laneOf(signer);
  const halt = await readHalt(db, chain.chainId, lane.address);
  await assignQueued(deps, halt);
  const mined = await store.listMined(db, lane);
  const errors: OperatingError[] = [];
  let progressed = false;
  for (const transaction of await store.listAssigned(db, lane)) {
    try {
      const advanced = await traced(transaction, () =>
        advanceByBlockhash(deps, sequencing, transaction, halt),
      );
      progressed ||= advanced;
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
  halt: Halt,
): Promise<boolean> {
  const { db, chain, clock, limits } = deps;
  const attempts = await listAttempts(db, transaction.id);
  const [newest] = attempts;
  const isExpired = newest ? await sequencing.isExpired(lifetimeOf(newest)) : false;
  const found = await findReceipt(chain, attempts);
  if (found) {
    await recordMined(deps, [{ transaction, ...found }]);
    return true;
  }
  if (!(await maySend(deps, transaction, halt))) return false;
  if (!newest) deps.crashPoint(`${kindOf(transaction.intent)}.assigned`);
  if (!newest || isExpired) {
    return signForBlockhash(deps, sequencing, transaction, (newest?.number ?? 0) + 1);
  }
  if (clock.now() >= resendAtOf(attempts, { limits, isNext: false }))
    await send(deps, transaction, newest);
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
  const { db, clock, log } = deps;
  const [lifetime, fees] = await Promise.all([
    sequencing.getLifetime(),
    readFeesBelowCap(deps, transaction),
  ]);
  if (fees === null) return false;
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
  wakeOwners(
    await db
      .transaction()
      .execute(async (tx) => onChanged(tx, await store.recordAbandoned(tx, id))),
  );
}

function lifetimeOf({ lifetime }: Attempt): Lifetime {
  assert(lifetime !== null, "an attempt on a chain without nonces has a lifetime");
  return lifetime;
}

/** Reports whether a transaction may be signed and sent while its chain has open breaches. */
async function maySend(deps: LaneDeps, transaction: LaneTransaction, halt: Halt): Promise<boolean> {
  if (halt === "none") return true;
  return halt === "except_claims" && (await listClaims(deps, transaction)).length > 0;
}

/**
 * Returns what open breaches keep the lane from sending. Records a breach if a final block shows that the chain used nonces
 * that were never assigned here: this database is a restored backup, or the key is used elsewhere, and another transaction
 * could pay twice. Until that block the lane sends nothing, since a node may be wrong.
 */
async function checkHalt({ db, chain, signer, log }: LaneDeps, count: number): Promise<Halt> {
  const { chainId, address } = signer;
  // Read after the chain's count: a nonce is assigned here before the chain can use it.
  const nextNonce = await getNextNonce(db, laneOf(signer));
  if (nextNonce !== null && count > nextNonce) {
    const { sequencing } = chain;
    assert(sequencing.kind === "nonce", "only nonces are counted");
    const finalCount = await sequencing.getTransactionCount(address, "final");
    if (finalCount <= nextNonce) {
      log.warn({ lane: address, nextNonce, count }, "on-chain nonce may be ahead, waiting");
      return "all";
    }
    log.fatal({ lane: address, nextNonce, count }, "on-chain nonce is ahead of the database");
    await recordFindings(db, [nonceTaken(chainId, address, nextNonce, count)]);
  }
  return readHalt(db, chainId, address);
}

/** Assigns nonces to queued intents that may be sent, up to the limit of open nonces. */
async function assignQueued(deps: LaneDeps, halt: Halt): Promise<void> {
  const { db, signer, limits } = deps;
  const lane = laneOf(signer);
  if (halt === "all") return;
  const nowMs = deps.clock.now();
  if (halt === "except_claims") {
    await assignNonces(db, lane, { openMax: limits.openMax, nowMs, claimsOnly: true });
    return;
  }
  await combineQueued(deps);
  await assignNonces(db, lane, {
    nowMs,
    openMax: limits.openMax,
    batchesMax: limits.openFullMax,
    // Other work at its limit must not keep a claim waiting: its lock can be taken back in time.
    claimsMore: CLAIM_NONCES,
  });
}

/**
 * Combines queued intents into batches: any for the free nonces; beyond those only full ones, since a longer wait would not
 * make them longer, and one of claims. Intents whose batch would revert are sent one by one.
 */
async function combineQueued(deps: LaneDeps): Promise<void> {
  const { db, signer, clock, limits } = deps;
  const lane = laneOf(signer);
  const open = await countOpen(db, lane);
  const room = limits.openMax - open.all;
  const roomOfFull = limits.openFullMax - open.all;
  const claimsOnly = room <= 0 && roomOfFull <= 0;
  const args = { limit: QUEUE_READ_MAX, nowMs: clock.now(), claimsOnly };
  const queued = await store.listQueued(db, lane, args);
  const chosen = chooseBatches(deps.chain, queued, (batch, count) =>
    batch.isFull ? count < roomOfFull : count < room,
  );
  const taken = new Set(chosen.flatMap(({ members }) => members));
  const claims = queued.filter((one) => kindOf(one.intent) === "claim" && !taken.has(one));
  chosen.push(...chooseBatches(deps.chain, claims, (_, count) => count < 1));
  await insertAffordable(deps, chosen);
}

interface ChosenBatch {
  readonly batch: Batch;
  readonly members: readonly LaneTransaction[];
}

/** Combines queued intents, the oldest first, until no more fit together or `mayAdd` ends it. */
function chooseBatches(
  chain: LaneDeps["chain"],
  queued: readonly LaneTransaction[],
  mayAdd: (batch: Batch, count: number) => boolean,
): ChosenBatch[] {
  const chosen: ChosenBatch[] = [];
  let left = queued;
  while (left.length > 1) {
    const batch = chain.combine(left);
    if (!batch || !mayAdd(batch, chosen.length)) break;
    const places = new Set(batch.members);
    chosen.push({ batch, members: left.filter((_, place) => places.has(place)) });
    left = left.filter((_, place) => !places.has(place));
  }
  return chosen;
}

/** Inserts the batches before the first one that would revert or that the lane cannot pay for. */
async function insertAffordable(deps: LaneDeps, chosen: readonly ChosenBatch[]): Promise<void> {
  const { db, signer, random, log } = deps;
  const lane = laneOf(signer);
  const answers = await Promise.all(chosen.map(({ batch }) => isAffordable(deps, batch)));
  const refused = answers.indexOf(false);
  const batches = chosen
    .slice(0, refused === -1 ? chosen.length : refused)
    .map(({ batch: { call, gas }, members }): store.NewBatch => {
      const id = random.uuid();
      const { chainId, address } = lane;
      const row = { id, chainId, lane: address, intent: `batch:${id}:1`, gas, ...call } as const;
      return { ...row, memberIds: members.map((member) => member.id) };
    });
  if (batches.length === 0) return;
  await store.insertBatches(db, batches);
  for (const { id, memberIds } of batches) {
    log.info({ batch: id, size: memberIds.length }, "intents combined into a batch");
  }
}

/** Reports whether a batch succeeds in simulation, and the lane can pay for it within its budget. */
async function isAffordable(
  { chain, signer, limits, log }: Pick<LaneDeps, "chain" | "signer" | "limits" | "log">,
  batch: Batch,
): Promise<boolean> {
  const size = batch.members.length;
  try {
    const simulation = await chain.simulate(signer.address, batch.call, { gas: batch.gas });
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
  const { db, chain, signer, waits } = deps;
  if (waits.isRegistered) return;
  const lane = laneOf(signer);
  if ((await getNextNonce(db, lane)) === null) {
    const { sequencing } = chain;
    const nextNonce =
      sequencing.kind === "nonce" ? await sequencing.getTransactionCount(signer.address) : 0;
    await registerLane(db, { ...lane, purpose: signer.purpose, nextNonce });
  }
  waits.isRegistered = true;
}
