/**
 * The id of one delivery from inventory. Source and destination compute it independently, so that each lock is paid at
 * most once. It does not include the amount. The format never changes.
 */
import { encodeAddressWord } from "./commitment.ts";
import { encodeUint, type Hex, keccak, keccakText, toHex } from "./encoding.ts";

/** The text whose keccak-256 is the first word of the preimage. */
export const DELIVERY_DOMAIN = "sluice.delivery.v1";

/** Identifies the lock that a delivery pays. Addresses are 20 bytes, or 32 bytes if already padded. */
export interface DeliveryFields {
  /** Bridge chain id of the chain that holds the lock, a uint16. */
  readonly srcBridgeId: number;
  /** The escrow that holds the lock. */
  readonly escrow: string;
  /** The deposit address. */
  readonly wallet: string;
  /** The locked token; zero is the native coin. */
  readonly token: string;
  /** The escrow's counter for this wallet and token, from 0, a uint64. */
  readonly seq: number | bigint;
}

/** Returns the id of a delivery: keccak-256 over the domain and the five fields, one word each. */
export function deliveryId(fields: DeliveryFields): Hex {
  return toHex(
    keccak(
      keccakText(DELIVERY_DOMAIN),
      encodeUint("srcBridgeId", fields.srcBridgeId, 16),
      encodeAddressWord("escrow", fields.escrow),
      encodeAddressWord("wallet", fields.wallet),
      encodeAddressWord("token", fields.token),
      encodeUint("seq", fields.seq, 64),
    ),
  );
}
