/**
 * Calldata of a refund authority for the `Escrow` of the source chain. It takes an undelivered lock back in two steps: it
 * announces it, and calls `takeBack` not before 72 hours after the lock and 24 hours after the announcement. While the
 * announcement stands, the deposit address locks nothing of the token.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import {
  COMMITMENT_FIELDS,
  type CommitmentFields,
  encodeAddressWord,
  encodeField,
} from "./commitment.ts";
import { type Hex, keccakText, parseBytes, toHex } from "./encoding.ts";

const COMMITMENT_TYPE = "(bytes32,bytes32,uint16,bytes32,bytes32,bytes32,uint16,uint16)";

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
  deliveryId,
}: {
  readonly commitment: CommitmentFields;
  /** Id of the lock, as the event `Locked` and `deliveryId` give it. */
  readonly deliveryId: string;
}): Hex {
  return encodeCall(`takeBack(bytes32,${COMMITMENT_TYPE})`, [
    parseBytes("deliveryId", deliveryId, 32),
    ...encodeCommitment(commitment),
  ]);
}

function encodeCommitment(commitment: CommitmentFields): Uint8Array[] {
  return COMMITMENT_FIELDS.map((field) => encodeField(commitment, field));
}

function encodeCall(signature: string, words: readonly Uint8Array[]): Hex {
  return toHex(concatBytes(keccakText(signature).slice(0, 4), ...words));
}
