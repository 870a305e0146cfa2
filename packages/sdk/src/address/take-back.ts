/**
 * Calldata of a refund authority for the `Escrow` of the source chain. It takes an undelivered lock back in two steps: it
 * announces it, and calls `takeBack` not before 72 hours after the lock and 24 hours after the announcement. While the
 * announcement stands, the deposit address locks nothing of the token.
 */
import { COMMITMENT_TYPE, encodeCall, encodeCommitment } from "./calls.ts";
import { type CommitmentFields, encodeAddressWord } from "./commitment.ts";
import { encodeLock, type LockFields } from "./delivery-id.ts";
import type { Hex } from "./encoding.ts";

const LOCK_TYPE = "(bytes32,bytes32,address,uint256,uint256,uint64)";

/** A deposit address and token whose locks are taken back. */
export interface TakeBackOf {
  readonly commitment: CommitmentFields;
  /** The locked token on the source chain; zero is the native coin. */
  readonly token: string;
}

/** Returns the call of the first step. */
export function encodeAnnounceTakeBack({ commitment, token }: TakeBackOf): Hex {
  return encodeCall(`announceTakeBack(${COMMITMENT_TYPE},address)`, [
    ...encodeCommitment(commitment),
    encodeAddressWord("token", token),
  ]);
}

/** Returns the call that ends the announcement: the deposit address locks again. */
export function encodeCancelTakeBack({ commitment, token }: TakeBackOf): Hex {
  return encodeCall(`cancelTakeBack(${COMMITMENT_TYPE},address)`, [
    ...encodeCommitment(commitment),
    encodeAddressWord("token", token),
  ]);
}

/** Returns the call of the second step, for one lock. */
export function encodeTakeBack({
  commitment,
  lock,
}: {
  readonly commitment: CommitmentFields;
  /** The lock, as the event `Locked` states it. */
  readonly lock: LockFields;
}): Hex {
  return encodeCall(`takeBack(${LOCK_TYPE},${COMMITMENT_TYPE})`, [
    ...encodeLock(lock),
    ...encodeCommitment(commitment),
  ]);
}
