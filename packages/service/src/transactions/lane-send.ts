/** Signs, sends and replaces transactions that have a nonce. Bytes are committed before they are sent. */
import type { Fees, Lifetime, SendOutcome } from "../chains/port/index.ts";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import type { TxHash } from "../core/hex.ts";
import { insertAttempt, isAccepted, recordSend } from "./attempts.ts";
import { isOutpriced, raiseFees } from "./fees.ts";
import { readCap } from "./gas-cap.ts";
import { fillCall, FILL_GAS } from "./nonces.ts";
import { listMinedHashes, readMembers } from "./store.ts";
import { type Attempt, kindOf, type LaneTransaction } from "./types.ts";
import { GAS_ABOVE_CAP_RETRY_MS, labelsOf, type LaneDeps } from "./lane-deps.ts";

/** Returns the fees for a first signature; null while the market is above the cap, which is read again seconds later. */
export async function readFeesBelowCap(
  deps: LaneDeps,
  transaction: LaneTransaction,
): Promise<Fees | null> {
  const { chain, clock, limits, log, waits } = deps;
  const { intent } = transaction;
  const cap = await readCap(deps, transaction);
  // Another cap is another question.
  if (cap === limits.gasPriceMax && clock.now() < waits.signAfterMs) return null;
  const fees = await chain.suggestFees();
  if (fees.gasPriceMax <= cap) return fees;
  waits.signAfterMs = clock.now() + GAS_ABOVE_CAP_RETRY_MS;
  const gasPriceMax = fees.gasPriceMax.toString();
  log.error({ intent, gasPriceMax }, "gas price above cap, waiting");
  return null;
}

/**
 * Raises the fees of an attempt, at once if no block can take it at the market's price, and otherwise if blocks passed
 * without it. Returns false
 * if the attempt stays as it is.
 */
export async function replaceIfStuck(
  deps: LaneDeps,
  transaction: LaneTransaction,
  newest: Attempt,
  market: Fees,
): Promise<boolean> {
  const { chain, clock, limits, waits } = deps;
  if (!isOutpriced(newest, market)) {
    const { number } = await chain.getHead();
    if (waits.stuck?.hash !== newest.hash) waits.stuck = { hash: newest.hash, head: number };
    // A chain that makes no blocks mines nothing, at any price.
    if (number <= waits.stuck.head) return false;
  }
  const gasPriceMax = await readCap(deps, transaction);
  const fees = raiseFees(newest, market, {
    nowMs: clock.now(),
    limits: { ...limits, gasPriceMax },
  });
  return fees !== null && tryReplace(deps, transaction, newest.number + 1, fees);
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

/**
 * Signs a transaction, commits the attempt, then sends it; returns the node's answer. If another process committed this
 * attempt first, sends nothing and returns null: that process sends its own bytes.
 */
export async function signAndSend(
  deps: LaneDeps,
  transaction: LaneTransaction,
  {
    number,
    fees,
    lifetime,
  }: { readonly number: number; readonly fees: Fees; readonly lifetime?: Lifetime | undefined },
): Promise<SendOutcome | null> {
  const { db, signer, clock, crashPoint } = deps;
  assert(transaction.nonce !== null, "only an assigned transaction is signed");
  const { id, nonce, cancelled: cancels } = transaction;
  const { call, gas } = cancels ? await planCancellation(deps) : transaction;
  const hints = await listHints(deps, transaction);
  const signed = await signer.sign({ call, nonce, gas, fees, lifetime, hints });
  const { hash, raw } = signed;
  const signedAtMs = clock.now();
  const attempt = { hash, number, raw, ...fees, lifetime: lifetime ?? null, signedAtMs, cancels };
  const first = await insertAttempt(db, { id, nonce }, attempt);
  if (!first) return null;
  crashPoint(`${kindOf(transaction.intent)}.signed`);
  return send(deps, transaction, attempt);
}

/** Returns the call that takes the nonce of a call that was given up, with the gas that the chain asks for. */
async function planCancellation({ chain, signer }: LaneDeps) {
  const call = fillCall(signer);
  const simulation = await chain.simulate(signer.address, call);
  return { call, gas: simulation.ok ? simulation.gas : FILL_GAS };
}

/** Returns the transactions in which the signer of a payout, or of a batch of payouts, may find its locks. */
async function listHints({ db }: LaneDeps, transaction: LaneTransaction): Promise<TxHash[]> {
  const isBatch = kindOf(transaction.intent) === "batch";
  const members = isBatch ? await readMembers(db, transaction) : [transaction];
  const payouts = members.filter(({ intent }) => kindOf(intent) === "deliver");
  const hints = await Promise.all(
    payouts.flatMap(({ settlementId }) =>
      settlementId === null ? [] : listMinedHashes(db, settlementId),
    ),
  );
  return [...new Set(hints.flat())];
}

/** Sends the committed bytes of an attempt; records and returns the node's answer. */
export async function send(
  deps: LaneDeps,
  transaction: LaneTransaction,
  attempt: Pick<Attempt, "hash" | "raw">,
): Promise<SendOutcome> {
  const { db, chain, clock, log, crashPoint } = deps;
  const outcome = await chain.send(attempt.raw);
  crashPoint(`${kindOf(transaction.intent)}.sent`);
  await recordSend(db, attempt.hash, { nowMs: clock.now(), outcome });
  const facts = { intent: transaction.intent, txHash: attempt.hash, outcome };
  if (isAccepted(outcome)) log.info(facts, "sent");
  else if (outcome === "insufficient_funds") log.error(facts, "lane out of gas");
  else log.warn(facts, "send failed, retrying with the same bytes");
  return outcome;
}
