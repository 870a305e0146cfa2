/** How Solana writes addresses and transactions. */
import type { Address, TxHash } from "../../core/hex.ts";
import type { AddressFormat } from "../port.ts";
import { fromBase58, fromSignature, toBase58, toSignature } from "./base58.ts";

/** Base58 has no checksum: every text of the right form is an address. */
export const SOLANA_ADDRESSES: AddressFormat = {
  display: (address) => toBase58(address),
  hasValidChecksum: () => true,
};

/** The address of a text in base58, or null where it is none. */
export function parseSolanaAddress(text: string): Address | null {
  try {
    return fromBase58(text);
  } catch {
    // A user's text, whatever it is.
    return null;
  }
}

/** A transaction's id as explorers take it. */
export function displaySolanaTransaction(txHash: TxHash): string {
  return toSignature(txHash);
}

/** The id of a transaction in base58, or null where it is none. */
export function parseSolanaTransaction(text: string): TxHash | null {
  try {
    return fromSignature(text);
  } catch {
    // A user's text, whatever it is.
    return null;
  }
}
