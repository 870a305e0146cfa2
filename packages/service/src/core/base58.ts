/** Base58, in which Solana writes its addresses and the ids of its transactions; inside the service both are hex. */
import { base58 } from "@scure/base";
import { type Address, type Hex, toAddress, toHex, toTxHash, type TxHash } from "./hex.ts";

const ADDRESS_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** Longer text is no 64 bytes, and decoding takes the square of its length. */
const TEXT_LENGTH_MAX = 88;

/** Bytes in base58. */
export function toBase58(bytes: Hex): string {
  return base58.encode(Buffer.from(bytes.slice(2), "hex"));
}

/** The address that a text names on Solana; undefined when it is not exactly 32 bytes. */
export function parseSolanaAddress(text: string): Address | undefined {
  const bytes = decode(text, ADDRESS_BYTES);
  return bytes && toAddress(bytes);
}

/** The id of a transaction of Solana; undefined when it is not exactly 64 bytes. */
export function parseSolanaTxHash(text: string): TxHash | undefined {
  const bytes = decode(text, SIGNATURE_BYTES);
  return bytes && toTxHash(bytes);
}

/** What a transaction is known by, as its family writes it: base58 where it is Solana's, else hex. */
export function displayTxHash(txHash: string): string {
  const bytes = toTxHash(txHash);
  return bytes.length === 2 + 2 * SIGNATURE_BYTES ? toBase58(bytes) : bytes;
}

/** Every text of base58 stands for other bytes, so what decodes is in its one spelling. */
function decode(text: string, length: number): Hex | undefined {
  if (text.length > TEXT_LENGTH_MAX) return undefined;
  let bytes: Uint8Array;
  try {
    bytes = base58.decode(text);
  } catch {
    // Another alphabet: the library has no way to ask.
    return undefined;
  }
  return bytes.length === length ? toHex(`0x${Buffer.from(bytes).toString("hex")}`) : undefined;
}
