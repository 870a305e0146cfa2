/** EIP-55 checksums: format EVM addresses for people and detect typing errors. */
import { checksumAddress } from "viem";
import { isEvmAddress, toEvmAddress } from "../../core/hex.ts";

/** Returns the EIP-55 spelling of an address. Throws `TypeError` if it is not 0x and 40 hex digits. */
export function toChecksumAddress(address: string): string {
  return checksumAddress(toEvmAddress(address));
}

/**
 * Returns false for a mixed-case address with a wrong checksum. All lower or all upper case carries no checksum and passes.
 * Any other form is false.
 */
export function hasValidChecksum(text: string): boolean {
  if (!isEvmAddress(text)) return false;
  const digits = text.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true;
  return toChecksumAddress(text) === text;
}
