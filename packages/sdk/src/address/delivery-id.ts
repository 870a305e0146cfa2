/**
 * The id of one delivery from inventory: the hash of the lock that it pays. Source and destination compute it
 * independently, so that each lock is paid at most once. The format never changes.
 */
import { encodeAddressWord } from "./commitment.ts";
import { encodeUint, type Hex, keccak, keccakText, parseBytes, toHex } from "./encoding.ts";

/** The text whose keccak-256 is the first word of the preimage. */
export const DELIVERY_DOMAIN = "sluice.delivery.v1";

/**
 * A lock, as the event `Locked` of its escrow states it, without its time. Addresses are 20 bytes, or 32 bytes if already
 * padded.
 */
export interface LockFields {
  /** Hash of the deposit address's commitment. */
  readonly commitment: string;
  /** The contract that pays it on the destination. */
  readonly delivery: string;
  /** The locked token; zero is the native coin. */
  readonly token: string;
  /** Locked amount in base units, a uint256. */
  readonly amount: number | bigint;
  /** Least delivered amount in base units of the committed token, a uint256. */
  readonly minOut: number | bigint;
  /** The escrow's counter for `delivery`, from 0, a uint64. */
  readonly seq: number | bigint;
}

/** A lock with the chain and the contract that hold it. */
export interface DeliveryFields extends LockFields {
  /** Bridge chain id of the chain that holds the lock, a uint16. */
  readonly srcBridgeId: number;
  /** The escrow that holds the lock. */
  readonly escrow: string;
}

/** Returns the id of a delivery: keccak-256 over the domain and the eight fields, one word each. */
export function deliveryId(fields: DeliveryFields): Hex {
  return toHex(
    keccak(
      keccakText(DELIVERY_DOMAIN),
      encodeUint("srcBridgeId", fields.srcBridgeId, 16),
      encodeAddressWord("escrow", fields.escrow),
      encodeAddressWord("delivery", fields.delivery),
      parseBytes("commitment", fields.commitment, 32),
      encodeAddressWord("token", fields.token),
      encodeUint("amount", fields.amount, 256),
      encodeUint("minOut", fields.minOut, 256),
      encodeUint("seq", fields.seq, 64),
    ),
  );
}

/** Returns the words of a lock in calldata of the escrow. */
export function encodeLock(lock: LockFields): Uint8Array[] {
  return [
    parseBytes("commitment", lock.commitment, 32),
    encodeAddressWord("delivery", lock.delivery),
    encodeAddressWord("token", lock.token),
    encodeUint("amount", lock.amount, 256),
    encodeUint("minOut", lock.minOut, 256),
    encodeUint("seq", lock.seq, 64),
  ];
}
