/** EIP-55 checksums: format EVM addresses for people and detect typing errors. */
import { checksumAddress } from "viem";
import { isEvmAddress, toEvmAddress } from "../../core/hex.ts";
import { memoize } from "../../core/memo.ts";

/** Spellings that are remembered: a page shows up to 300, many of them those of the page before. */
const REMEMBERED_MAX = 10_000;

/** Returns the EIP-55 spelling of an address. Throws `TypeError` if it is not 0x and 40 hex digits. */
export const toChecksumAddress = memoize(
  (address: string): string => checksumAddress(toEvmAddress(address)),
  (address) => address,
  REMEMBERED_MAX,
);

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
