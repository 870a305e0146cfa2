/** Solana addresses: 32 bytes in base58. */
import { base58 } from "@scure/base";
import { AddressInputError } from "./encoding.ts";

/** The longest base58 text of 32 bytes, in characters. */
const LENGTH_MAX = 44;

/** Returns the 32 bytes of a Solana address. Throws `AddressInputError` for any other text. */
export function parseBase58(field: string, text: string): Uint8Array {
  const bytes = decode(text);
  if (bytes?.length === 32) return bytes;
  throw new AddressInputError(field, "32 bytes in base58", text);
}

/** Reports whether the text is 32 bytes in base58. */
export function isSolanaAddress(text: string): boolean {
  return decode(text)?.length === 32;
}

function decode(text: unknown): Uint8Array | undefined {
  if (typeof text !== "string" || text.length > LENGTH_MAX) return undefined;
  try {
    return base58.decode(text);
  } catch {
    // Not base58. The library can only report this by throwing.
    return undefined;
  }
}
