/** Advances one unmined transaction of a lane with nonces. */
import type { SendOutcome } from "../chains/port/index.ts";
import { assert } from "../core/assert.ts";
import { SignerRefusal, SignerWaits } from "../signers/refusal.ts";
import { isAccepted } from "./attempts.ts";
import { chooseAttempt, isOutpriced, outbid, resendAtOf } from "./fees.ts";
import type { LaneDeps } from "./lane-deps.ts";
import { cancelForClaim, makeWayForClaim } from "./gas-cap.ts";
import { readFeesBelowCap, replaceIfStuck, send, signAndSend } from "./lane-send.ts";
import { stepAside } from "./step-aside.ts";
import { type Attempt, kindOf, type LaneTransaction } from "./types.ts";

/**
 * Advances an unmined transaction: signs and sends it, rebroadcasts it, or replaces it if it is the lowest open nonce.
 * Returns false if nothing behind it may be sent now: the lane cannot pay, or the nonces behind it changed.
 */
export async function advance(
  deps: LaneDeps,
  transaction: LaneTransaction,
  { attempts: all, isNext }: { readonly attempts: readonly Attempt[]; readonly isNext: boolean },
): Promise<boolean> {
  const { clock, limits } = deps;
  // Once a call is given up, only what takes its nonce is sent; the bytes of the call may still be mined.
  const attempts = all.filter(({ cancels }) => cancels === transaction.cancelled);
  const [newest] = attempts;
  if (!newest) return signFirst(deps, transaction, all);
  if (clock.now() < resendAtOf(attempts, { limits, isNext })) return isPaid(newest.outcome);
  return isPaid(await resendOrReplace(deps, transaction, attempts, { isNext }));
}

/** Signs a transaction, or its cancellation, for the first time. A call that the signer does not sign steps aside. */
async function signFirst(
  deps: LaneDeps,
  transaction: LaneTransaction,
  earlier: readonly Attempt[],
): Promise<boolean> {
  deps.crashPoint(`${kindOf(transaction.intent)}.assigned`);
  const market = await readFeesBelowCap(deps, transaction);
  const [newest] = earlier;
  if (market === null) return newest !== undefined || !(await makeWayForClaim(deps, transaction));
  const number = (newest?.number ?? 0) + 1;
  const fees = newest ? outbid(newest, market) : market;
  try {
    return isPaid(await signAndSend(deps, transaction, { number, fees }));
  } catch (error) {
    const isAside =
      error instanceof SignerWaits || (error instanceof SignerRefusal && error.about !== "lane");
    // A signed transaction, or one that only fills its nonce, has nothing to step aside for.
    const mayStepAside = !newest && kindOf(transaction.intent) !== "fill" && !transaction.cancelled;
    if (!isAside || !mayStepAside) throw error;
    await stepAside(deps, transaction, error);
    // The nonces behind it have changed: the next poll reads them.
    return false;
  }
}

function isPaid(outcome: SendOutcome | null): boolean {
  return outcome !== "insufficient_funds";
}

/**
 * Replaces an attempt that the market has outpriced, and the lowest open nonce if it is stuck; otherwise sends the attempt
 * again that the market asks for.
 */
async function resendOrReplace(
  deps: LaneDeps,
  transaction: LaneTransaction,
  attempts: readonly Attempt[],
  { isNext }: { readonly isNext: boolean },
): Promise<SendOutcome | null> {
  const { chain, clock, limits } = deps;
  const [newest] = attempts;
  assert(newest !== undefined, "a sent transaction has an attempt");
  // Only what waits can be stuck: a first attempt that a node never received is just sent.
  const waitedMs = clock.now() - newest.signedAtMs;
  const mayBeStuck = isNext && (attempts.length > 1 || waitedMs >= limits.resendAfterMs);
  if (!mayBeStuck && newest.outcome !== "underpriced") return send(deps, transaction, newest);
  const market = await chain.suggestFees();
  const mayReplace = mayBeStuck || isOutpriced(newest, market);
  if (mayReplace && (await replaceIfStuck(deps, transaction, newest, market))) return null;
  if (isNext && (await cancelForClaim(deps, transaction, { newest, market }))) return null;
  if (!mayBeStuck) return send(deps, transaction, newest);
  const chosen = chooseAttempt(attempts, market);
  if (!chosen || chosen === newest) return send(deps, transaction, newest);
  const outcome = await send(deps, transaction, chosen);
  // Nodes that still have a more expensive attempt refuse a cheaper one.
  return isAccepted(outcome) ? outcome : send(deps, transaction, newest);
}
