/** Dependencies of the delivery worker, and the writes that every state of a delivery needs. */
import { getConfigured } from "../configured.ts";
import type { SettlerDeps } from "../module.ts";
import type { ErrorObject } from "@sluice/sdk/wire";
import type {
  Call,
  Chain,
  Lock,
  LockFacts,
  PaidLock,
  Payout,
  ReadPoint,
} from "../../chains/port/index.ts";
import { OperatingError } from "../../core/errors.ts";
import { assert } from "../../core/assert.ts";
import type { Address } from "../../core/hex.ts";
import type { DepositAddress } from "../../addresses/index.ts";
import type { Random } from "../../core/ports.ts";
import { gatherCalls } from "../../db/gather.ts";
import type { Tx } from "../../db/schema.ts";
import {
  ANSWER_POLL_MS,
  FOLLOW_RETRY_MAX_MS,
  followDelay,
  LOCK_POLL_MIN_MS,
  SENT_POLL_MS,
} from "../../jobs/delays.ts";
import {
  type Intent,
  type IntentName,
  listMinedHashes,
  type LaneChoice,
  planCall,
  submitIntents,
} from "../../transactions/index.ts";
import type { AttestationId } from "./attestation-requests.ts";
import {
  type Attestation,
  insertAttestations,
  type NewAttestation,
  recordUsed,
} from "./attestations.ts";
import type { EarlyRulesByChain } from "./early/rules.ts";
import { type DeliveryState, mayMove } from "./lifecycle.ts";
import * as store from "./store.ts";
import type { Delivery } from "./store.ts";

/** Dependencies of the delivery worker of a process. */
export interface DeliveryDeps extends Omit<
  SettlerDeps,
  "config" | "attestations" | "lanes" | "prices" | "worksOn"
> {
  /** Lanes of payouts by destination chain, and of claims and returns by source chain. */
  readonly lanes: ReadonlyMap<
    number,
    {
      readonly deliver: readonly Address[];
      readonly claims: LaneChoice;
      readonly returns: LaneChoice;
    }
  >;
  readonly deliveryConfirmations: ReadonlyMap<number, number>;
  /** Rules of payouts before finality, by source chain. */
  readonly early: EarlyRulesByChain;
  /** Seconds after its lock in which a delivery may be paid; afterwards the lock is returned. */
  readonly payoutWindowS: bigint;
}

/** Seconds for which a claim or return may be used after its request. */
export const ORDER_LIFETIME_S = 3600n;

/** Reads the delivery's lock on the source chain, with our own mined transactions as hints. */
export async function getLock(
  deps: DeliveryDeps,
  delivery: Delivery,
  address: DepositAddress,
  at: ReadPoint,
): Promise<Lock | null> {
  const hints = await listMinedHashes(deps.db, delivery.settlementId);
  const source = chainOf(deps, delivery.srcChain);
  return source.getLock(lockOf(delivery, address), at, hints);
}

/** Returns the facts of a delivery's lock. */
export function lockOf(
  { delivery, token, lockedAmount: amount, minOut, seq }: Delivery,
  { commitmentHash: commitment }: DepositAddress,
): LockFacts {
  return { commitment, delivery, token, amount, minOut, seq };
}

/** Returns a delivery's lock as the destination files it. */
export function paidLockOf({ id: deliveryId, srcChain, escrow, seq }: Delivery): PaidLock {
  return { deliveryId, srcChain, escrow, seq };
}

/** A transaction of a delivery, and the change that is recorded with it. */
export interface PlanArgs {
  readonly chain: Chain;
  readonly lanes: LaneChoice;
  readonly intent: IntentName;
  readonly call: Call;
  readonly what: string;
  /** Names calls that take about as much gas. */
  readonly like?: string;
  readonly change: store.DeliveryChange;
  /** The request whose signatures the call carries. */
  readonly attestation: AttestationId;
}

/** Simulates a call and queues it, in the transaction that records it. */
export async function plan(deps: DeliveryDeps, delivery: Delivery, args: PlanArgs): Promise<void> {
  const { chain, lanes, intent, call, what, like, change, attestation } = args;
  const priced = { call, what, ...(like !== undefined && { like }) };
  const { lane, gas } = await planCall({ db: deps.db, chain }, { ...lanes, ...priced });
  const { settlementId } = delivery;
  const { chainId } = chain;
  await takeStep(deps, {
    delivery,
    // The lane wakes it.
    change: { ...change, pollAtMs: deps.clock.now() + SENT_POLL_MS },
    intent: { chainId, lane, intent, settlementId, call, gas },
    used: attestation,
  });
  deps.wakeLanes(chain.chainId, lane);
}

/** A change of a delivery, with the request or intent that it inserts. */
export interface Step {
  readonly delivery: Delivery;
  readonly change: store.DeliveryChange;
  readonly attestation?: NewAttestation;
  readonly intent?: Intent;
  /** The request whose signatures the intent carries. */
  readonly used?: AttestationId;
}

/**
 * Changes a delivery and inserts what belongs to it, in one transaction, which the steps of one turn of the event loop share.
 * Returns false, with nothing changed or inserted, if the delivery changed meanwhile.
 */
export function takeStep({ db, random }: DeliveryDeps, step: Step): Promise<boolean> {
  const { state } = step.change;
  const from = step.delivery.state;
  assert(state === undefined || mayMove(from, state), `a delivery may go from ${from} to ${state}`);
  return takeSteps(db, { step, random });
}

const takeSteps = gatherCalls(
  async (db, all: readonly { readonly step: Step; readonly random: Random }[]) => {
    const steps = all.map(({ step }) => step);
    const random = all[0]?.random;
    // Of two steps from the same version of a delivery the first is taken.
    const ofOne = [...Map.groupBy(steps, ({ delivery }) => delivery.id).values()];
    const first = ofOne.flatMap(([step]) => step ?? []);
    return db.transaction().execute(async (tx) => {
      const changed = await store.updateDeliveries(tx, first);
      const taken = new Set(first.filter(({ delivery }) => changed.has(delivery.id)));
      const attestations = [...taken].flatMap(({ attestation }) => attestation ?? []);
      await insertAttestations(tx, attestations);
      await recordUsed(
        tx,
        [...taken].flatMap(({ used }) => used ?? []),
      );
      const intents = [...taken].flatMap(({ intent }) => intent ?? []);
      if (random) await submitIntents(tx, random, intents);
      return steps.map((step) => taken.has(step));
    });
  },
);

/** Moves a delivery to another state. Returns false if it changed meanwhile. */
export async function move(
  tx: Tx,
  delivery: Delivery,
  state: DeliveryState,
  change: Omit<store.DeliveryChange, "state">,
): Promise<boolean> {
  assert(mayMove(delivery.state, state), `a delivery may go from ${delivery.state} to ${state}`);
  return store.updateDelivery(tx, delivery, { ...change, state });
}

/** Records the error of a delivery, and wakes its settlement. */
export async function writeError(
  deps: DeliveryDeps,
  delivery: Delivery,
  error: ErrorObject | null,
): Promise<void> {
  await deps.db.transaction().execute(async (tx) => {
    if (!(await store.updateDelivery(tx, delivery, { error }))) return;
    await deps.onChanged(tx, delivery.settlementId);
  });
}

/** Throws INTERNAL if the attestor refused to sign. */
export function assertNotRefused({ refusal }: Attestation, message: string): void {
  if (refusal === null) return;
  throw new OperatingError("INTERNAL", message, { details: { reason: refusal } });
}

/** Returns the payout of a delivery, as the attestor signs it. */
export function payoutOf(delivery: Delivery, address: DepositAddress, windowStart: bigint): Payout {
  return {
    commitment: address.commitment,
    srcChain: delivery.srcChain,
    escrow: delivery.escrow,
    srcToken: delivery.token,
    lockedAmount: delivery.lockedAmount,
    minOut: delivery.minOut,
    seq: delivery.seq,
    windowStart,
    amount: delivery.payAmount,
  };
}

/** Schedules the next poll of a delivery. */
export async function poll(deps: DeliveryDeps, delivery: Delivery): Promise<void> {
  await reschedule(deps, delivery, deps.pollMs);
}

/**
 * Schedules the next poll of a delivery whose lock is not final: soon after it was made, where finality takes a second, and
 * then after a twentieth of the time that it has waited, where it takes a quarter of an hour.
 */
export async function pollLock(deps: DeliveryDeps, delivery: Delivery): Promise<void> {
  const waitedMs = deps.clock.now() - Number(delivery.lockedAt) * 1_000;
  await reschedule(deps, delivery, Math.max(followDelay(waitedMs), LOCK_POLL_MIN_MS));
}

/** Returns when a delivery is polled next whose attestors are asked now; their answer wakes it at once. */
export function answerDueMs({ clock }: DeliveryDeps): number {
  return clock.now() + ANSWER_POLL_MS;
}

/** Schedules the next poll of a delivery whose attestors were asked. */
export async function pollAnswer(deps: DeliveryDeps, delivery: Delivery): Promise<void> {
  await reschedule(deps, delivery, ANSWER_POLL_MS);
}

/** Schedules the next poll of a delivery whose transaction is sent; the lane wakes it at once. */
export async function pollSent(deps: DeliveryDeps, delivery: Delivery): Promise<void> {
  await reschedule(deps, delivery, SENT_POLL_MS);
}

/** Schedules the next poll of a delivery that waits for the finality of a transaction; the lane wakes it at once. */
export async function pollFinality(deps: DeliveryDeps, delivery: Delivery): Promise<void> {
  await reschedule(deps, delivery, FOLLOW_RETRY_MAX_MS);
}

async function reschedule(
  { db, clock }: DeliveryDeps,
  { id, nextCheckAt: seen }: Delivery,
  delayMs: number,
): Promise<void> {
  await store.rescheduleUnlessChanged(db, id, { atMs: clock.now() + delayMs, seen });
}

/** Returns a configured chain. Throws CONFIG_MISSING. */
export function chainOf({ chains }: DeliveryDeps, chainId: number): Chain {
  return getConfigured(chains, chainId, "The chain of a delivery is not configured.");
}

/** Returns the lanes of a chain. Throws CONFIG_MISSING. */
export function lanesOf({ lanes }: DeliveryDeps, chainId: number) {
  return getConfigured(lanes, chainId, "The chain of a delivery has no lanes.");
}

/** Returns the time in Unix seconds. */
export function nowSeconds(deps: DeliveryDeps): bigint {
  return BigInt(Math.floor(deps.clock.now() / 1000));
}

/** Returns whether a deadline in Unix seconds is over. */
export function isPast(deps: DeliveryDeps, deadline: bigint): boolean {
  return nowSeconds(deps) >= deadline;
}
