/** EIP-55: how EVM addresses are shown to people, and how a mistyped one is noticed. */
import { checksumAddress } from "viem";
import { isEvmAddress, toEvmAddress } from "../../core/hex.ts";

/** The EIP-55 spelling of an address in any spelling. Throws `TypeError` when it is not 0x and 40 hex digits. */
export function toChecksumAddress(address: string): string {
  return checksumAddress(toEvmAddress(address));
}

/**
 * False for a mixed-case address whose checksum is wrong. All lower or all upper case carries no checksum and passes.
 * Assumes that the form was checked; any other form is false too.
 */
export function hasValidChecksum(text: string): boolean {
  if (!isEvmAddress(text)) return false;
  const digits = text.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true;
  return toChecksumAddress(text) === text;
}
