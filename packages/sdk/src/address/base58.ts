/** Solana's addresses: 32 bytes in base58. */
import { base58 } from "@scure/base";
import { AddressInputError } from "./encoding.ts";

/** No 32 bytes take more characters. */
const LENGTH_MAX = 44;

/** The 32 bytes of an address of Solana. */
export function parseBase58(field: string, text: string): Uint8Array {
  const bytes = decode(text);
  if (bytes?.length === 32) return bytes;
  throw new AddressInputError(field, "32 bytes in base58", text);
}

/** True for 32 bytes in base58. */
export function isSolanaAddress(text: string): boolean {
  return decode(text)?.length === 32;
}

function decode(text: unknown): Uint8Array | undefined {
  if (typeof text !== "string" || text.length > LENGTH_MAX) return undefined;
  try {
    return base58.decode(text);
  } catch {
    // Another alphabet: the library has no way to ask.
    return undefined;
  }
}
