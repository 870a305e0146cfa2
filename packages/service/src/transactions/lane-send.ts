/** Signs, sends and replaces transactions that have a nonce. Bytes are committed before they are sent. */
import type { Fees, Lifetime } from "../chains/port/index.ts";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import { insertAttempt, recordSend } from "./attempts.ts";
import { listMinedHashes } from "./store.ts";
import { type Attempt, kindOf, type LaneTransaction } from "./types.ts";
import { labelsOf, type LaneDeps, type LaneLimits } from "./lane-deps.ts";

/** Logs that the lane waits for a lower gas price. */
export function logGasAboveCap({ log }: LaneDeps, { intent }: LaneTransaction, fees: Fees): void {
  const gasPriceMax = fees.gasPriceMax.toString();
  log.error({ intent, gasPriceMax }, "gas price above cap, waiting");
}

/** Signs and sends a replacement. Returns false if the signer failed: the earlier attempt stays valid and is rebroadcast. */
export async function tryReplace(
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
export function sentLongAgo(attempt: Attempt, nowMs: number, limits: LaneLimits): boolean {
  return attempt.sentAtMs === null || nowMs - attempt.sentAtMs >= limits.resendAfterMs;
}

/**
 * Signs a transaction, commits the attempt, then sends it. If another process committed this attempt first, sends nothing:
 * that process sends its own bytes.
 */
export async function signAndSend(
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
  const hints = await listHints(deps, transaction);
  const signed = await signer.sign({ call, nonce, gas, fees, lifetime, hints });
  const { hash, raw } = signed;
  const signedAtMs = clock.now();
  const attempt = { hash, number, raw, ...fees, lifetime: lifetime ?? null, signedAtMs };
  const first = await insertAttempt(db, transaction.id, attempt);
  if (!first) return;
  crashPoint(`${kindOf(transaction.intent)}.signed`);
  await send(deps, transaction, { ...attempt, sentAtMs: null, accepted: false });
}

/** Returns the transactions in which the signer of a payout may find its lock. */
async function listHints({ db }: LaneDeps, { intent, settlementId }: LaneTransaction) {
  if (settlementId === null || kindOf(intent) !== "deliver") return [];
  return listMinedHashes(db, settlementId);
}

/** Sends the committed bytes of an attempt and records the node's answer. */
export async function send(
  deps: LaneDeps,
  transaction: LaneTransaction,
  attempt: Attempt,
): Promise<void> {
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
export function raiseFees(newest: Attempt, market: Fees, limits: LaneLimits): Fees | null {
  const raise = (fee: bigint) => (fee * 1125n) / 1000n + 1n;
  const gasPriceMax = max(market.gasPriceMax, raise(newest.gasPriceMax));
  const tipMax = max(market.tipMax, raise(newest.tipMax));
  return gasPriceMax > limits.gasPriceMax ? null : { gasPriceMax, tipMax };
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
