/**
 * Calls that the signer does not sign. A nonce blocks all behind it, so a call that was never signed gives its nonce back:
 * the calls behind it move up, or, if one of them was signed already, a transfer of nothing from the lane to itself fills
 * the nonce. The call itself waits, or is abandoned, so that its owner plans again.
 *
 * Invariant: only a transaction without attempts loses its nonce, so at most one call is ever sent under a nonce.
 */
import { assert } from "../core/assert.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Tx } from "../db/schema.ts";
import type { Queue } from "../jobs/due.ts";
import { STEP_ASIDE_RETRY_MS } from "../jobs/delays.ts";
import { type SignerRefusal, SignerWaits } from "../signers/refusal.ts";
import { laneOf, type LaneDeps } from "./lane-deps.ts";
import { fillCall, FILL_GAS, lockLane, vacateNonce } from "./nonces.ts";
import * as store from "./store.ts";
import { kindOf, type LaneTransaction } from "./types.ts";

/** Takes the nonce from a transaction that the signer did not sign. Does nothing if another process signed it meanwhile. */
export async function stepAside(
  deps: LaneDeps,
  transaction: LaneTransaction,
  refusal: SignerRefusal | SignerWaits,
): Promise<void> {
  const { db, clock, log, signer, random, wakeOwners } = deps;
  const { id, nonce, intent } = transaction;
  assert(nonce !== null, "only a nonce can be given back");
  const lane = laneOf(signer);
  const woken = await db.transaction().execute(async (tx): Promise<readonly Queue[]> => {
    await lockLane(tx, lane);
    // The signer knows another call for this nonce: no call of ours can have it any more.
    const isTaken = !(refusal instanceof SignerWaits) && refusal.about === "nonce";
    const vacated = await vacateNonce(tx, lane, { id, nonce, mustFill: isTaken });
    if (vacated === "signed") return [];
    if (vacated === "gap") {
      const fill = { id: random.uuid(), call: fillCall(lane), gas: FILL_GAS };
      await store.insertFill(tx, lane, { ...fill, nonce });
    }
    if (isTaken) return [];
    if (kindOf(intent) === "batch") await store.dissolveBatch(tx, id);
    else if (refusal instanceof SignerWaits) await setAside(tx, id, clock.now());
    else return abandonUnsigned(tx, deps, transaction);
    return [];
  });
  const facts = { intent, nonce, reason: refusal.reason };
  if (refusal instanceof SignerWaits) log.warn(facts, "signer waits, call stepped aside");
  else log.error(facts, "signer refused, call stepped aside");
  wakeOwners(woken);
}

async function setAside(tx: Tx, id: string, nowMs: number): Promise<void> {
  await tx
    .updateTable("transactions")
    .set({ retry_at: formatStamp(nowMs + STEP_ASIDE_RETRY_MS) })
    .where("id", "=", id)
    .execute();
}

async function abandonUnsigned(
  tx: Tx,
  { onChanged }: LaneDeps,
  transaction: LaneTransaction,
): Promise<readonly Queue[]> {
  await store.recordGivenUp(tx, transaction.id);
  return onChanged(tx, [{ ...transaction, nonce: null, state: "abandoned" }]);
}
