/**
 * Sweeps the wallet through a route: `pending_swap -> swapping`. The sweep takes the live balance; the real amount, and
 * the deposits that it took, are read from the mined receipt. The first sweep of a wallet deploys it: `deploying` until
 * it is mined.
 */
import { type Held, MORE_ARRIVED, type Receipt } from "../../chains/port/index.ts";
import { assertDerived, type DepositAddress } from "../../addresses/index.ts";
import { formatUnits } from "../../core/amounts.ts";
import { assert } from "../../core/assert.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Tx } from "../../db/schema.ts";
import { assignSwept, hasDepositAbove } from "../../deposits/index.ts";
import { isQuarantined } from "../../ledger/index.ts";
import {
  assertPayable,
  assertRecipientAccepts,
  type Reservation,
  type Route,
} from "../../routes/index.ts";
import {
  failureOf,
  findDeferral,
  getByIntent,
  type IntentName,
  type LaneTransaction,
  planCall,
  submitIntent,
} from "../../transactions/index.ts";
import { listRoutes, takeFirst, usedRoute } from "../choose-route.ts";
import { chainOf, lanesOf, type SettlementDeps } from "../deps.ts";
import { failIn } from "../fail.ts";
import { hasValueInFlight } from "../in-flight.ts";
import { planFee } from "../plan-fee.ts";
import { findOpenRefund } from "../operator/refunds.ts";
import { isScreened, isStillScreened } from "../screening/rows.ts";
import { SETTLEMENT_CONDITIONS } from "../store/deposits.ts";
import { getError } from "../store/read.ts";
import { recordSwapTransaction, recordSweep } from "../store/sweep.ts";
import { changeTogether } from "../store/together.ts";
import { dueSettlements, lookAgain } from "../store/due.ts";
import { transition } from "../store/transition.ts";
import { type Settlement, TOO_LITTLE } from "../types.ts";
import { FINALITY_RETRY_MS, RECHECK_MS, SENT_POLL_MS } from "../../jobs/delays.ts";
import { assertWorthwhile } from "../worthwhile.ts";
import { ConcurrentChange, type StepResult } from "../step.ts";
import { hasPlannedEnd, planPart, withUpTo } from "../part.ts";
import { leaveSpare, failedByArrival } from "../spare.ts";
import { recordEmpty } from "../empty.ts";

/** Plans a sweep, or follows the one that was sent. */
export async function stepSweep(
  deps: SettlementDeps,
  settlement: Settlement,
  address: DepositAddress,
): Promise<StepResult> {
  if (hasValueInFlight(settlement)) return followSweep(deps, settlement, address);
  const chain = chainOf(deps, settlement);
  assertDerived(chain, address);
  // An open refund may be signed again until it is over, and would take the balance of this sweep.
  if (await findOpenRefund(deps.db, settlement)) return "wait";
  const routes = await listRoutes(deps, settlement, address);
  const held = await readSweepable(deps, settlement);
  if (held.amount === 0n) {
    if (await awaitsFinalDeposit(deps, settlement, held)) return waitForFinality(deps, settlement);
    return recordEmpty(deps, settlement);
  }
  await assertNotQuarantined(deps, settlement);
  if (deps.screens && !(await isScreened(deps, settlement))) return "wait";
  try {
    await assertWorthwhile(deps, settlement, held.amount);
    return await takeFirst(routes, (route) => planMost(deps, { settlement, address, route, held }));
  } catch (error) {
    const isTooLittle = error instanceof OperatingError && TOO_LITTLE.includes(error.code);
    if (isTooLittle && (await awaitsFinalDeposit(deps, settlement, held))) {
      return waitForFinality(deps, settlement);
    }
    throw error;
  }
}

/** Defers the sweep of a token that the auditor quarantined in this wallet. Throws NO_ROUTE. */
export async function assertNotQuarantined(
  deps: SettlementDeps,
  settlement: Settlement,
): Promise<void> {
  if (!(await isQuarantined(deps.db, settlement))) return;
  throw new OperatingError("NO_ROUTE", "The token is quarantined in this wallet by the audit.", {
    details: { reason: "quarantined", chainId: settlement.chainId },
  });
}

/**
 * Returns whether a recorded deposit is not sweepable yet because its block is not final. A balance that is too small
 * then waits without an error. A sufficient balance is swept at once, so that frequent small payments cannot delay it.
 */
async function awaitsFinalDeposit(
  { db }: SettlementDeps,
  settlement: Settlement,
  { asOf }: Held,
): Promise<boolean> {
  return asOf !== undefined && (await hasDepositAbove(db, settlement, asOf));
}

async function waitForFinality(deps: SettlementDeps, { id }: Settlement): Promise<"wait"> {
  await dueSettlements.reschedule(deps.db, id, deps.clock.now() + FINALITY_RETRY_MS);
  return "wait";
}

/**
 * Returns the amount to sweep: the whole balance. After repeated failures by arrivals the vault's spare is left behind,
 * since a sender of dust could otherwise block the sweep permanently.
 */
async function readSweepable(deps: SettlementDeps, settlement: Settlement): Promise<Held> {
  const held = await chainOf(deps, settlement).readHolding(settlement.token, settlement.wallet);
  if (settlement.retryCount < ARRIVAL_FAILURES_MAX) return held;
  return failedByArrival(await getError(deps.db, settlement.id)) ? leaveSpare(held) : held;
}

/** A sweep to plan. */
export interface PlannedSweep {
  readonly settlement: Settlement;
  readonly address: DepositAddress;
  readonly route: Route;
  readonly held: Held;
}

/**
 * Plans the sweep of the whole balance, or of a part where the route cannot take all of it. Parts begin with the second
 * try, since reservations of other settlements often end within seconds.
 */
export async function planMost(deps: SettlementDeps, sweep: PlannedSweep): Promise<StepResult> {
  const { settlement, route, held } = sweep;
  try {
    return await planSweep(deps, sweep);
  } catch (error) {
    if (!isTooMuch(error) || settlement.retryCount === 0) throw error;
    const part = await planPart(deps, settlement, { route, held });
    if (!part) throw error;
    return planSweep(deps, { ...sweep, held: part });
  }
}

/** Limits of a route's contract or bridge, as reasons of NO_ROUTE. */
const LIMITS: ReadonlySet<unknown> = new Set(["daily_cap", "burn_limit"]);

/** Returns whether a route refused the amount, and might take a part of it. */
function isTooMuch(error: unknown): boolean {
  if (!(error instanceof OperatingError)) return false;
  const { code, details } = error;
  return (
    code === "INSUFFICIENT_BALANCE" || (code === "NO_ROUTE" && LIMITS.has(details?.["reason"]))
  );
}

/** Plans the sweep through a route. Throws when the route cannot take it now; nothing is planned or reserved then. */
async function planSweep(
  deps: SettlementDeps,
  { settlement, address, route, held }: PlannedSweep,
): Promise<StepResult> {
  const { amount: balance } = held;
  const chain = chainOf(deps, settlement);
  const fee = await planFee(deps, settlement, { address, route, amount: balance });
  const { minOut, amountOut } = await route.quote(balance, address.commitment, fee);
  if (minOut === 0n) {
    throw new OperatingError("AMOUNT_TOO_SMALL", "The balance is too small for the route.", {
      details: { balance: balance.toString() },
    });
  }
  const { destWallet } = address;
  await assertPayable(deps.chains, route.pair, { destWallet, amountOut });
  await assertRecipientAccepts(deps.chains, route, { destWallet, amountOut });
  const call = await route.prepareSweep(address, balance, fee, held);
  if (!call) return "wait";
  const { settle: lanes } = lanesOf(deps, settlement);
  const { lane, gas } = await planCall(
    { db: deps.db, chain },
    {
      lanes,
      call,
      what: "Sweeping the wallet",
      like: `${settlement.step} ${settlement.token} by ${route.contract}`,
    },
  );
  const inventory = await route.readInventory();
  const number = settlement.sweepsSent + 1;
  const deploys = settlement.step === "deploy";
  let refusal: Exclude<Reservation, "reserved"> | null = null;
  const write = async (tx: Tx): Promise<void> => {
    if (deps.screens && !(await isStillScreened(tx, settlement))) throw new ConcurrentChange();
    const { id: settlementId, integratorId, addressId } = settlement;
    const request = { settlementId, integratorId, addressId, amount: balance, inventory };
    const reservation = await route.reserve(tx, request);
    refusal = reservation === "reserved" ? null : reservation;
    // Nothing is written yet, so that a refused sweep fails no other of the transaction.
    if (refusal) return;
    await submitIntent(tx, deps.random, {
      chainId: settlement.chainId,
      lane,
      intent: intentOf(settlement, number),
      settlementId: settlement.id,
      call,
      gas,
    });
    const moved = await transition(tx, deps, settlement, {
      trigger: deploys ? "deploy_planned" : "sweep_planned",
      change: {
        step: "sweep",
        ...(deploys && { deploysSent: settlement.deploysSent + 1 }),
        route: route.kind,
        routeContract: route.contract,
        sweepsSent: number,
        plannedAmount: balance,
        plannedUpTo: held.asOf ?? null,
        fee,
        retryAtMs: null,
        nextCheckAtMs: deps.clock.now() + SENT_POLL_MS,
      },
    });
    if (!moved) throw new ConcurrentChange();
  };
  await changeTogether(deps.db, settlement, write, route.reserves);
  if (refusal) throw notReserved(route, balance, refusal);
  deps.wakeEvents(settlement.integratorId);
  deps.wakeLanes(settlement.chainId, lane);
  return "wait";
}

const NOT_RESERVED = {
  inventory_too_low: "Inventory on the destination is too low.",
  daily_cap_reached: "The cap on deliveries over 24 hours is used up.",
  address_share_reached: "The address has reserved its share of the inventory on the destination.",
  integrator_share_reached:
    "The integrator has reserved its share of the inventory on the destination.",
  cap_share_reached: "The integrator has used up its share of the cap on deliveries over 24 hours.",
} as const;

function notReserved(
  route: Route,
  balance: bigint,
  reason: Exclude<Reservation, "reserved">,
): OperatingError {
  const message = NOT_RESERVED[reason];
  const needed = formatUnits(balance, route.decimalsIn);
  return new OperatingError("INSUFFICIENT_BALANCE", message, {
    details: { reason, chainId: route.pair.destChain, needed },
  });
}

/** Follows the sent sweep: a mined one moves to the delivery, a final revert counts as a failed try. */
async function followSweep(
  deps: SettlementDeps,
  settlement: Settlement,
  address: DepositAddress,
): Promise<StepResult> {
  const sent = await getByIntent(deps.db, intentOf(settlement, settlement.sweepsSent));
  if (!sent) return "wait";
  const failure = failureOf(sent);
  if (!sent.mined && !failure) return "wait";
  const route = usedRoute(deps, settlement, address);
  // On another fork the same transaction may still succeed; a second sweep would then run beside it.
  if (failure) return failure.isFinal ? recordRevert(deps, settlement, route, sent) : "wait";
  assert(sent.mined, "a sweep that did not fail is mined");
  const isFinal = sent.state === "final";
  await recordSwapTransaction(deps.db, settlement, sent.mined.txHash);
  const isDeployed = settlement.status !== "deploying";
  if (isDeployed && route.waitsForFinality && !isFinal) {
    const isEarly = await route.mayPayEarly?.(settlement.plannedAmount ?? 0n);
    if (!isEarly) return "wait";
  }
  const fee = settlement.fee ?? deps.fees.planWithout(address.commitment.maxFeeBps);
  const receipt = await chainOf(deps, settlement).getReceipt(sent.mined.txHash);
  // The block may be orphaned just now, and the lane follows the transaction; or the server is behind.
  if (!receipt) return lookAgain(deps, settlement);
  if (!isDeployed) return recordDeployed(deps, settlement, receipt);
  const swept = await route.readSweep(receipt, address);
  const sweep = withUpTo(settlement, swept);
  if (!swept || !sweep) {
    // A successful sweep emits logs: a receipt without them is incomplete.
    throw new OperatingError("RPC_UNAVAILABLE", "The node answered without the sweep's logs.", {
      details: { chainId: settlement.chainId, reason: "logs missing" },
    });
  }
  await changeTogether(deps.db, settlement, async (tx) => {
    // First: the lock may be on record for an earlier settlement, which gives it up.
    await route.recordSweep(tx, { settlementId: settlement.id, address, sweep, fee, receipt });
    const recorded = await recordSweep(tx, deps, settlement, {
      sweep,
      receipt,
      final: isFinal && !hasPlannedEnd(settlement, swept),
    });
    if (!recorded) throw new ConcurrentChange();
    await assignSwept(tx, SETTLEMENT_CONDITIONS, settlement, {
      settlementId: settlement.id,
      block: receipt.blockNumber,
      logIndex: sweep.logIndex,
      upTo: sweep.upTo,
      recheckAtMs: deps.clock.now() + RECHECK_MS,
    });
  });
  if (!route.deliversBySweep) deps.wakeDeliveries(route);
  return "again";
}

/** Records that the sweep was mined and deployed the wallet: both events follow at once. */
async function recordDeployed(
  deps: SettlementDeps,
  settlement: Settlement,
  { txHash, effects }: Receipt,
): Promise<StepResult> {
  // Somebody else may have deployed it before.
  const isOurs = effects.some(
    (effect) => effect.kind === "deployed" && effect.wallet === settlement.wallet,
  );
  await changeTogether(deps.db, settlement, async (tx) => {
    const deployed = await transition(tx, deps, settlement, {
      trigger: "wallet_ready",
      ...(isOurs && { txHash, change: { deployTxHash: txHash } }),
    });
    if (!deployed) throw new ConcurrentChange();
    // The row is this transaction's since the change before.
    const ready = {
      ...settlement,
      status: "pending_swap",
      version: settlement.version + 1,
    } as const;
    const change = { nextCheckAtMs: deps.clock.now() };
    const moved = await transition(tx, deps, ready, { trigger: "sweep_planned", change });
    assert(moved, "nobody else changes a row that is locked");
  });
  deps.wakeEvents(settlement.integratorId);
  return "again";
}

/** Failures by arrivals before the spare is left behind; after 50 seconds, when the second deposit is final too. */
const ARRIVAL_FAILURES_MAX = 3;

/** Reverts of one settlement that count as expired prices. */
const PRICED_REVERTS_MAX = 3;

/** Records a final revert: releases the reservation, and uses up a try unless others could have caused the revert. */
async function recordRevert(
  deps: SettlementDeps,
  settlement: Settlement,
  route: Route,
  sent: LaneTransaction,
): Promise<StepResult> {
  const error = await explainRevert(deps, settlement, { route, sent });
  await deps.db.transaction().execute(async (tx) => {
    await route.release(tx, settlement.id);
    const step = settlement.status === "deploying" ? ({ step: "deploy" } as const) : {};
    if (!(await failIn(tx, deps, settlement, error, { ...step, plannedAmount: null }))) {
      throw new ConcurrentChange();
    }
  });
  deps.wakeEvents(settlement.integratorId);
  return "wait";
}

async function explainRevert(
  deps: SettlementDeps,
  settlement: Settlement,
  { route, sent }: { readonly route: Route; readonly sent: LaneTransaction },
): Promise<OperatingError> {
  const txHash = sent.mined?.txHash ?? null;
  const receipt = txHash && (await chainOf(deps, settlement).getReceipt(txHash));
  if (receipt?.metMore) {
    return new OperatingError("RPC_UNAVAILABLE", "The wallet received more while it was swept.", {
      details: { chainId: settlement.chainId, reason: MORE_ARRIVED, txHash: receipt.txHash },
    });
  }
  const details = txHash === null ? { reason: "signer refused" } : { txHash };
  const held = await findDeferral(chainOf(deps, settlement), sent);
  if (held) return held;
  // An expired price is not the settlement's fault, up to a limit.
  return route.isPriced && settlement.sweepsSent <= PRICED_REVERTS_MAX
    ? new OperatingError("PRICE_UNAVAILABLE", "The price of the sweep expired.", { details })
    : new OperatingError("TX_REVERTED", "The sweep transaction reverted.", { details });
}

function intentOf(settlement: Settlement, number: number): IntentName {
  return `sweep:${settlement.id}:${number}`;
}
