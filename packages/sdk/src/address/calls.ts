/** Encoding of calls whose first argument is a commitment. */
import { concatBytes } from "@noble/hashes/utils.js";
import { COMMITMENT_FIELDS, type CommitmentFields, encodeField } from "./commitment.ts";
import { encodeUint, type Hex, keccakText, toHex } from "./encoding.ts";

/** The ABI type of a commitment. */
export const COMMITMENT_TYPE =
  "(bytes32,bytes32,uint16,bytes32,bytes32,bytes32,uint16,uint16,bytes32,uint16)";

/** Encodes a commitment as its words. */
export function encodeCommitment(commitment: CommitmentFields): readonly Uint8Array[] {
  return COMMITMENT_FIELDS.map((field) => encodeField(commitment, field));
}

/** Encodes a call from the signature of the function and the words of its arguments. */
export function encodeCall(signature: string, words: readonly Uint8Array[]): Hex {
  return toHex(concatBytes(keccakText(signature).slice(0, 4), ...words));
}

/** Encodes a list of words as the last argument, after `head` words of the others. */
export function encodeLastList(head: number, list: readonly Uint8Array[]): readonly Uint8Array[] {
  return [
    encodeUint("offset", (head + 1) * 32, 256),
    encodeUint("length", list.length, 256),
    ...list,
  ];
}
