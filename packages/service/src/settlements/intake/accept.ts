/**
 * Records arrived value as deposits, and queues a settlement where the gate passes.
 *
 * Deposit, settlement and event are written in one database transaction under the lock of the holding, so that each
 * deposit is decided against one state of the holding's settlement. The event reports this decision; the sweep that
 * really took a deposit is known by chain order, once the sweep is mined.
 */
import { pairOf } from "../choose-route.ts";
import {
  type ArrivedValue,
  assignBySweeps,
  assignUnsettled,
  type DepositOutcome,
  findUnexplained,
  gateBalance,
  hasOutflow,
  type HeldAt,
  type Holding,
  type IgnoredReason,
  insertDeposits,
  type Minimums,
  refreshKnown,
} from "../../deposits/index.ts";
import {
  type AddressNotes,
  type DepositAddress,
  keepFresh,
  listNotes,
  NO_NOTES,
} from "../../addresses/index.ts";
import { displayTxHash } from "../../core/base58.ts";
import { appendEvents, type NewEvent } from "../../events/index.ts";
import type { Tx } from "../../db/schema.ts";
import {
  type DepositDetectedData,
  type DepositDetectedDetails,
  DETAILS_DEPOSITS_MAX,
} from "@sluice/sdk/wire";
import { chainLabel } from "../../telemetry/metrics.ts";
import { RECHECK_MS } from "../../jobs/delays.ts";
import { chainOf, type IntakeDeps } from "../deps.ts";
import { SETTLEMENT_CONDITIONS } from "../store/deposits.ts";
import {
  getActive,
  getSweptAfter,
  listUnfinalSweeps,
  lockHolding,
  lockSettlement,
} from "../store/read.ts";
import { readDeployed } from "../wallet-state.ts";
import { retryNow } from "../store/due.ts";
import { readLiveBalance } from "./live-balance.ts";
import { findUsedUpQuota } from "./quota.ts";
import { insertSettlement } from "../store/transition.ts";
import { promiseSuccessor, reopenParts } from "../store/sweep.ts";
import type { Settlement } from "../types.ts";

/** A check inside the transaction that records a finding; throws when the finding no longer holds. */
export type Premise = (tx: Tx) => Promise<void>;

/** Records the transfers of one token to one wallet in one block. Idempotent. */
export async function acceptValue(
  deps: IntakeDeps,
  arrived: ArrivedValue,
  address: DepositAddress,
  premise: Premise,
): Promise<void> {
  const chain = chainOf(deps, arrived);
  // At once, since the depositor waits for each round trip.
  const [found, walletDeployed, minimums] = await Promise.all([
    readLiveBalance(chain, arrived, {
      block: { number: arrived.blockNumber, hash: arrived.blockHash },
      least: sumOf(arrived),
    }),
    readDeployed(chain, arrived.wallet),
    deps.readMinimums(arrived.chainId, arrived.token),
  ]);
  // A failing token contract must not block its chain: zero leaves the deposit to the re-check.
  const facts = { arrived, address, balance: found ?? 0n, walletDeployed, minimums };
  await acceptArrival(deps, facts, premise);
}

/** Records one arrival by the state that was read for it. Idempotent. */
export async function acceptArrival(
  deps: IntakeDeps,
  arrival: Arrival,
  premise: Premise,
): Promise<void> {
  const { arrived, address } = arrival;
  const accepted = await deps.db.transaction().execute(async (tx) => {
    await premise(tx);
    await lockHolding(tx, arrived);
    return record(tx, deps, arrival);
  });
  if (accepted) announce(deps, arrived, address, accepted);
}

/**
 * Records as deposits what a wallet held at a block beyond its recorded deposits and outflows. Assumes that every
 * transfer and outflow up to that block is recorded. Idempotent, for the same block and for others.
 */
export async function acceptBalance(
  deps: IntakeDeps,
  held: HeldAt,
  address: DepositAddress,
  premise: Premise,
): Promise<void> {
  const chain = chainOf(deps, held);
  const [balance, walletDeployed, minimums] = await Promise.all([
    readLiveBalance(chain, held, { block: held.block, least: held.balance }),
    readDeployed(chain, held.wallet),
    deps.readMinimums(held.chainId, held.token),
  ]);
  const accepted = await deps.db.transaction().execute(async (tx) => {
    await premise(tx);
    await lockHolding(tx, held);
    const recorded = [];
    for (const arrived of await findUnexplained(tx, held)) {
      const facts = { arrived, address, balance: balance ?? 0n, walletDeployed, minimums };
      const outcome = await record(tx, deps, facts);
      if (outcome) recorded.push({ arrived, outcome });
    }
    return recorded;
  });
  for (const { arrived, outcome } of accepted) announce(deps, arrived, address, outcome);
}

/** An arrival, and the state that decides about it. */
export interface Arrival {
  readonly arrived: ArrivedValue;
  readonly address: DepositAddress;
  /** Base units that the wallet holds now. */
  readonly balance: bigint;
  readonly walletDeployed: boolean | null;
  readonly minimums: Minimums;
}

/**
 * Records deposits, settlement and event of the new transfers of an arrival. Returns null when none is new. Assumes the
 * lock of the holding.
 */
async function record(tx: Tx, deps: IntakeDeps, arrival: Arrival): Promise<DepositOutcome | null> {
  const { arrived, address } = arrival;
  const { fresh, hasMoved } = await refreshKnown(
    tx,
    SETTLEMENT_CONDITIONS,
    arrived,
    deps.clock.now(),
  );
  if (hasMoved) await retryWaiting(tx, deps, arrived);
  if (fresh.transfers.length === 0) return null;
  const taker = await findTaker(tx, fresh);
  if (taker) {
    await reopenParts(tx, fresh, { block: fresh.blockNumber, nowMs: deps.clock.now() });
  }
  const outcome: DepositOutcome = taker
    ? { queued: true, settlementId: taker.id }
    : await decide(tx, deps, { ...arrival, arrived: fresh });
  const owner = { addressId: address.id, integratorId: address.integratorId };
  const nowMs = deps.clock.now();
  const added = [{ arrived: fresh, owner, outcome }];
  const [ids = []] = await insertDeposits(tx, deps.random, added, {
    nowMs,
    recheckAtMs: nowMs + RECHECK_MS,
  });
  await keepFresh(tx, fresh.chainId, address, "paid");
  if (!taker && outcome.queued && outcome.settlementId !== null) {
    await assignUnsettled(tx, fresh, outcome.settlementId);
  }
  // The outcome is that of the last one; a mined sweep of the same block can lie between them.
  if (fresh.transfers.length > 1) {
    await assignBySweeps(tx, SETTLEMENT_CONDITIONS, fresh, deps.clock.now());
  }
  const notes = (await listNotes(tx, [address.id])).get(address.id);
  await appendEvents(tx, deps.random, [
    detected(deps, { arrived: fresh, ids, address, notes, outcome }),
  ]);
  return outcome;
}

/** Deposits that were just recorded. */
export interface Recorded {
  readonly arrived: ArrivedValue;
  /** Ids of the deposits, in the order of the transfers. */
  readonly ids: readonly string[];
  readonly address: DepositAddress;
  readonly notes: AddressNotes | undefined;
  readonly outcome: DepositOutcome;
}

/** Returns the event of recorded deposits. */
export function detected(deps: Pick<IntakeDeps, "displayAddress">, recorded: Recorded): NewEvent {
  const { arrived, outcome } = recorded;
  const { integratorId } = recorded.address;
  const data: DepositDetectedData = {
    walletAddress: deps.displayAddress(arrived.wallet),
    chainId: arrived.chainId,
    tokenAddress: deps.displayAddress(arrived.token),
    ...(outcome.queued
      ? { queued: true as const }
      : { queued: false as const, ignoredReason: outcome.reason }),
  };
  return { integratorId, type: "deposit_detected", data, details: describe(deps, recorded) };
}

function describe(
  { displayAddress }: Pick<IntakeDeps, "displayAddress">,
  { arrived, ids, address, notes = NO_NOTES, outcome }: Recorded,
): DepositDetectedDetails {
  const { transfers } = arrived;
  return {
    depositAddressId: address.id,
    userId: address.userId,
    label: notes.label,
    metadata: { ...notes.metadata },
    settlementId: outcome.queued ? outcome.settlementId : null,
    amount: transfers.reduce((sum, { amount }) => sum + amount, 0n).toString(),
    deposits: transfers.slice(0, DETAILS_DEPOSITS_MAX).map(({ amount, txHash, from }, place) => ({
      id: ids[place] ?? "",
      amount: amount.toString(),
      txHash: txHash && displayTxHash(txHash),
      sender: from && displayAddress(from),
      blockNumber: Number(arrived.blockNumber),
    })),
    moreDeposits: transfers.length > DETAILS_DEPOSITS_MAX,
  };
}

/** Retries at once the settlement that waits for a deposit which reappeared after a reorg. */
async function retryWaiting(tx: Tx, deps: IntakeDeps, arrived: ArrivedValue): Promise<void> {
  const active = await getActive(tx, arrived);
  if (active?.plannedAmount !== null || active.sweptAmount !== null) return;
  await retryNow(tx, active.id, deps.clock.now());
}

/** Tells of a recorded arrival, once it is committed. */
export function announce(
  deps: IntakeDeps,
  arrived: ArrivedValue,
  address: DepositAddress,
  outcome: DepositOutcome,
): void {
  deps.log.info(
    { chainId: arrived.chainId, wallet: arrived.wallet, block: arrived.blockNumber, ...outcome },
    "deposit detected",
  );
  const chain = chainLabel(arrived.chainId);
  deps.metrics.eventsAppended.inc({ type: "deposit_detected" });
  deps.metrics.depositsDetected.inc({ chain });
  if (!outcome.queued) deps.metrics.depositsIgnored.inc({ chain, reason: outcome.reason });
  deps.wakeEvents(address.integratorId);
  deps.wakeSettlements(arrived.chainId);
}

/** Finds the settlement whose recorded sweep took the last transfer of an arrival. */
async function findTaker(tx: Tx, arrived: ArrivedValue): Promise<Settlement | null> {
  const last = arrived.transfers.at(-1);
  if (!last) return null;
  return getSweptAfter(tx, arrived, { block: arrived.blockNumber, logIndex: last.logIndex });
}

async function decide(tx: Tx, deps: IntakeDeps, facts: Arrival): Promise<DepositOutcome> {
  const { arrived, address, balance, walletDeployed, minimums } = facts;

  const found = await getActive(tx, arrived);
  if (found) {
    const active = await lockSettlement(tx, found.id);
    return joinActive(tx, deps, { active, arrived, balance, minimums });
  }

  if (deps.routes.list(pairOf(arrived, address)).length === 0)
    return { queued: false, reason: "no_adapter" };
  const gate = gateBalance(balance, minimums);
  if (gate.kind === "ignore") return refuse(tx, facts, gate.reason);
  const owner = { integratorId: address.integratorId, chainId: arrived.chainId };
  // The deposit waits without a settlement, and is re-checked.
  if ((await findUsedUpQuota(tx, deps, owner)) !== null) {
    return { queued: false, reason: "enqueue_error" };
  }
  const settlementId = await insertSettlement(tx, deps, {
    chainId: arrived.chainId,
    wallet: arrived.wallet,
    token: arrived.token,
    integratorId: address.integratorId,
    addressId: address.id,
    walletDeployed,
    amount: balance,
  });
  return { queued: true, settlementId };
}

/** Adds a deposit to the active settlement while its sweep is not sent; promises it a successor otherwise. */
async function joinActive(
  tx: Tx,
  deps: IntakeDeps,
  facts: {
    readonly active: Settlement;
    readonly arrived: ArrivedValue;
    readonly balance: bigint;
    readonly minimums: Minimums;
  },
): Promise<DepositOutcome> {
  const { active, arrived, balance, minimums } = facts;
  const sweep = sweepOf(active, balance);
  if (sweep.kind === "not_sent") {
    await retryNow(tx, active.id, deps.clock.now());
    return { queued: true, settlementId: active.id };
  }
  const amount = sumOf(arrived);
  // A sweep takes the whole balance: a balance below this deposit means that the sweep took it too.
  if (sweep.kind === "mined_unseen" && balance < amount) {
    return { queued: true, settlementId: active.id };
  }
  const remaining = sweep.kind === "open" ? balance - sweep.planned : balance;
  const gate = gateBalance(remaining, minimums);
  if (gate.kind === "ignore") {
    // Planned from the balance of a newer block than is scanned, the sweep takes this deposit, or most of it.
    return sweep.kind === "open" && remaining < amount
      ? { queued: true, settlementId: active.id }
      : refuse(tx, facts, gate.reason);
  }
  await promiseSuccessor(tx, active);
  return { queued: true, settlementId: null };
}

/**
 * Decides about a deposit that no settlement can be created for. Where the wallet holds less than it, a sweep that a reorg
 * moved behind it has taken it: it is queued, and its settlement is known when that sweep is recorded in its new block.
 */
async function refuse(
  tx: Tx,
  { arrived, balance }: Pick<Arrival, "arrived" | "balance">,
  reason: IgnoredReason,
): Promise<DepositOutcome> {
  const isTaken = balance < sumOf(arrived) && (await hasMovedSweep(tx, arrived));
  return isTaken ? { queued: true, settlementId: null } : { queued: false, reason };
}

/** Reports whether a recorded sweep of a holding has left its block. Assumes that the blocks before are scanned. */
async function hasMovedSweep(tx: Tx, holding: Holding): Promise<boolean> {
  for (const sweep of await listUnfinalSweeps(tx, holding)) {
    if (!(await hasOutflow(tx, holding, sweep))) return true;
  }
  return false;
}

function sumOf({ transfers }: ArrivedValue): bigint {
  return transfers.reduce((sum, { amount }) => sum + amount, 0n);
}

type SweepState =
  | { readonly kind: "not_sent" }
  /** Sent, and the balance still covers the planned amount. */
  | { readonly kind: "open"; readonly planned: bigint }
  /** Mined and not recorded yet: its hash is known, or the balance is below the planned amount. */
  | { readonly kind: "mined_unseen" }
  | { readonly kind: "recorded" };

function sweepOf(active: Settlement, balance: bigint): SweepState {
  const { sweptAmount, plannedAmount, swapTxHash } = active;
  if (sweptAmount !== null) return { kind: "recorded" };
  if (plannedAmount === null) return { kind: "not_sent" };
  if (swapTxHash !== null) return { kind: "mined_unseen" };
  return balance >= plannedAmount
    ? { kind: "open", planned: plannedAmount }
    : { kind: "mined_unseen" };
}
