/**
 * Sweeps the wallet through a route: `pending_swap -> swapping`. The sweep takes the live balance; the real amount, and
 * the deposits that it took, are read from the mined receipt.
 */
import { type Held, LOCK_BARRED, MORE_ARRIVED } from "../../chains/port/index.ts";
import { assertDerived, type DepositAddress } from "../../addresses/index.ts";
import { formatUnits } from "../../core/amounts.ts";
import { assert } from "../../core/assert.ts";
import { OperatingError } from "../../core/errors.ts";
import type { TxHash } from "../../core/hex.ts";
import { assignSwept, hasDepositAbove } from "../../deposits/index.ts";
import { assertPayable, type Reservation, type Route } from "../../routes/index.ts";
import {
  failureOf,
  getByIntent,
  type IntentName,
  planCall,
  submitIntent,
} from "../../transactions/index.ts";
import { listRoutes, takeFirst, usedRoute } from "../choose-route.ts";
import { chainOf, lanesOf, type SettlementDeps } from "../deps.ts";
import { failIn } from "../fail.ts";
import { hasValueInFlight } from "../in-flight.ts";
import { planFee } from "../plan-fee.ts";
import { findOpenRefund } from "../operator/refunds.ts";
import { SETTLEMENT_CONDITIONS } from "../store/deposits.ts";
import { getError, lockHolding } from "../store/read.ts";
import { recordSwapTransaction, recordSweep } from "../store/sweep.ts";
import { dueSettlements } from "../store/due.ts";
import { transition } from "../store/transition.ts";
import type { Settlement } from "../types.ts";
import { FINALITY_RETRY_MS, RECHECK_MS } from "../../jobs/delays.ts";
import { assertWorthwhile } from "../worthwhile.ts";
import { ConcurrentChange, type StepResult } from "../step.ts";
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
  if (chain.wallets.kind === "vault" && (await findOpenRefund(deps.db, settlement))) return "wait";
  const routes = listRoutes(deps, settlement, address);
  const held = await readSweepable(deps, settlement);
  if (held.amount === 0n) {
    if (await awaitsFinalDeposit(deps, settlement, held)) return waitForFinality(deps, settlement);
    return recordEmpty(deps, settlement);
  }
  try {
    await assertWorthwhile(deps, settlement, held.amount);
    return await takeFirst(routes, (route) =>
      planSweep(deps, { settlement, address, route, held }),
    );
  } catch (error) {
    const isTooLittle = error instanceof OperatingError && TOO_LITTLE.has(error.code);
    if (isTooLittle && (await awaitsFinalDeposit(deps, settlement, held))) {
      return waitForFinality(deps, settlement);
    }
    throw error;
  }
}

const TOO_LITTLE: ReadonlySet<string> = new Set(["AMOUNT_TOO_SMALL", "FEE_NOT_COVERED"]);

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

/** Plans the sweep through a route. Throws when the route cannot take it now; nothing is planned or reserved then. */
async function planSweep(
  deps: SettlementDeps,
  {
    settlement,
    address,
    route,
    held,
  }: {
    readonly settlement: Settlement;
    readonly address: DepositAddress;
    readonly route: Route;
    readonly held: Held;
  },
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
  const call = await route.prepareSweep(address, balance, fee, held);
  if (!call) return "wait";
  const { settle: lanes } = lanesOf(deps, settlement);
  const { lane, gas } = await deferIfBarred(
    planCall({ db: deps.db, chain }, { lanes, call, what: "Sweeping the wallet" }),
  );
  const inventory = await route.readInventory();
  const number = settlement.sweepsSent + 1;
  await deps.db.transaction().execute(async (tx) => {
    await lockHolding(tx, settlement);
    const request = { settlementId: settlement.id, amount: balance, inventory };
    const reservation = await route.reserve(tx, request);
    if (reservation !== "reserved") throw notReserved(route, balance, reservation);
    await submitIntent(tx, deps.random, {
      chainId: settlement.chainId,
      lane,
      intent: intentOf(settlement, number),
      settlementId: settlement.id,
      call,
      gas,
    });
    const moved = await transition(tx, deps, settlement, {
      trigger: "sweep_planned",
      change: {
        route: route.kind,
        routeContract: route.contract,
        sweepsSent: number,
        plannedAmount: balance,
        fee,
        retryAtMs: null,
        nextCheckAtMs: deps.clock.now() + deps.pollMs,
      },
    });
    if (!moved) throw new ConcurrentChange();
  });
  deps.wakeEvents(settlement.integratorId);
  deps.wakeLanes(settlement.chainId);
  return "wait";
}

/** Turns the refusal of a lock that waits for another party into NO_ROUTE: it uses up no try. */
async function deferIfBarred<T>(planned: Promise<T>): Promise<T> {
  try {
    return await planned;
  } catch (error) {
    const reason = error instanceof OperatingError ? error.details?.["reason"] : undefined;
    if (typeof reason !== "string" || !LOCK_BARRED.has(reason)) throw error;
    throw new OperatingError("NO_ROUTE", "The escrow takes no lock of this deposit now.", {
      details: { reason },
    });
  }
}

function notReserved(
  route: Route,
  balance: bigint,
  reason: Exclude<Reservation, "reserved">,
): OperatingError {
  const message =
    reason === "daily_cap_reached"
      ? "The cap on deliveries over 24 hours is used up."
      : "Inventory on the destination is too low.";
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
  const failure = failureOf(sent);
  if (!sent?.mined && !failure) return "wait";
  const route = usedRoute(deps, settlement, address);
  // On another fork the same transaction may still succeed; a second sweep would then run beside it.
  if (failure)
    return failure.isFinal ? recordRevert(deps, settlement, route, failure.txHash) : "wait";
  assert(sent?.mined, "a sweep that did not fail is mined");
  const isFinal = sent.state === "final";
  await recordSwapTransaction(deps.db, settlement, sent.mined.txHash);
  if (route.waitsForFinality && !isFinal) return "wait";
  const fee = settlement.fee ?? deps.fees.planWithout(address.commitment.maxFeeBps);
  const receipt = await chainOf(deps, settlement).getReceipt(sent.mined.txHash);
  // The block may be orphaned just now: the lane follows the transaction and wakes this settlement.
  if (!receipt) return "wait";
  const sweep = await route.readSweep(receipt, address);
  if (!sweep) {
    // A successful sweep emits logs: a receipt without them is incomplete.
    throw new OperatingError("RPC_UNAVAILABLE", "The node answered without the sweep's logs.", {
      details: { chainId: settlement.chainId, reason: "logs missing" },
    });
  }
  await deps.db.transaction().execute(async (tx) => {
    await lockHolding(tx, settlement);
    const recorded = await recordSweep(tx, deps, settlement, {
      sweep,
      txHash: receipt.txHash,
      block: receipt.blockNumber,
      final: isFinal,
    });
    if (!recorded) throw new ConcurrentChange();
    await assignSwept(tx, SETTLEMENT_CONDITIONS, settlement, {
      settlementId: settlement.id,
      block: receipt.blockNumber,
      logIndex: sweep.logIndex,
      upTo: sweep.upTo,
      recheckAtMs: deps.clock.now() + RECHECK_MS,
    });
    await route.recordSweep(tx, { settlementId: settlement.id, address, sweep, fee, receipt });
  });
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
  txHash: TxHash | null,
): Promise<StepResult> {
  const error = await explainRevert(deps, settlement, { route, txHash });
  await deps.db.transaction().execute(async (tx) => {
    await route.release(tx, settlement.id);
    if (!(await failIn(tx, deps, settlement, error, { plannedAmount: null }))) {
      throw new ConcurrentChange();
    }
  });
  deps.wakeEvents(settlement.integratorId);
  return "wait";
}

async function explainRevert(
  deps: SettlementDeps,
  settlement: Settlement,
  { route, txHash }: { readonly route: Route; readonly txHash: TxHash | null },
): Promise<OperatingError> {
  const receipt = txHash && (await chainOf(deps, settlement).getReceipt(txHash));
  if (receipt?.metMore) {
    return new OperatingError("RPC_UNAVAILABLE", "The wallet received more while it was swept.", {
      details: { chainId: settlement.chainId, reason: MORE_ARRIVED, txHash: receipt.txHash },
    });
  }
  const details = txHash === null ? { reason: "signer refused" } : { txHash };
  // An expired price is not the settlement's fault, up to a limit.
  return route.isPriced && settlement.sweepsSent <= PRICED_REVERTS_MAX
    ? new OperatingError("PRICE_UNAVAILABLE", "The price of the sweep expired.", { details })
    : new OperatingError("TX_REVERTED", "The sweep transaction reverted.", { details });
}

function intentOf(settlement: Settlement, number: number): IntentName {
  return `sweep:${settlement.id}:${number}`;
}
