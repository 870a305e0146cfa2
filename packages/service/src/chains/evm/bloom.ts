/** The bloom filter of a block's logs (Ethereum Yellow Paper, section 4.4.3). */
import { hexToBytes, keccak256 } from "viem";
import type { Hex } from "../../core/hex.ts";

/** The three bits of an address or topic among the 2,048 of a filter. */
export type BloomBits = readonly number[];

/** Returns the bits of an address or topic. */
export function bloomBitsOf(item: Hex): BloomBits {
  const digest = hexToBytes(keccak256(item));
  return [0, 2, 4].map((at) => (((digest[at] ?? 0) << 8) | (digest[at + 1] ?? 0)) & 0x7ff);
}

/** Reports whether a filter has all bits of an item: if not, no log in the header's own list has the item. */
export function mayContain(bloom: Hex, bits: BloomBits): boolean {
  return bits.every((bit) => {
    // The lowest bit is the last one of the text; a digit has four.
    const digit = Number.parseInt(bloom.at(-1 - (bit >> 2)) ?? "0", 16);
    return (digit & (1 << (bit & 3))) !== 0;
  });
}
