/** Base58, the text form of Solana's addresses and transaction ids. Inside the service both are hex. */
import { base58 } from "@scure/base";
import {
  type Hex,
  type SolanaAddress,
  toHex,
  toSolanaAddress,
  toTxHash,
  type TxHash,
} from "./hex.ts";

const ADDRESS_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** Longer text exceeds 64 bytes. The limit bounds decoding, which takes quadratic time. */
const TEXT_LENGTH_MAX = 88;

/** Encodes bytes in base58. */
export function toBase58(bytes: Hex): string {
  return base58.encode(Buffer.from(bytes.slice(2), "hex"));
}

/** Parses a Solana address; undefined unless the text is base58 of exactly 32 bytes. */
export function parseSolanaAddress(text: string): SolanaAddress | undefined {
  const bytes = decode(text, ADDRESS_BYTES);
  return bytes && toSolanaAddress(bytes);
}

/** Parses a Solana transaction id; undefined unless the text is base58 of exactly 64 bytes. */
export function parseSolanaTxHash(text: string): TxHash | undefined {
  const bytes = decode(text, SIGNATURE_BYTES);
  return bytes && toTxHash(bytes);
}

/** Formats a transaction id for people: base58 for Solana, hex for EVM chains. */
export function displayTxHash(txHash: string): string {
  const bytes = toTxHash(txHash);
  return bytes.length === 2 + 2 * SIGNATURE_BYTES ? toBase58(bytes) : bytes;
}

/** Decodes base58 of exactly `length` bytes, or returns undefined. Base58 has one spelling per byte string. */
function decode(text: string, length: number): Hex | undefined {
  if (text.length > TEXT_LENGTH_MAX) return undefined;
  let bytes: Uint8Array;
  try {
    bytes = base58.decode(text);
  } catch {
    // Not base58. The library has no other check.
    return undefined;
  }
  return bytes.length === length ? toHex(`0x${Buffer.from(bytes).toString("hex")}`) : undefined;
}
