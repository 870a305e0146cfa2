/** The bloom filter of a block's logs: three bits for each address and topic, as every EVM chain sets them. */
import { type Hex, hexToBytes, keccak256 } from "viem";

const BLOOM_BYTES = 256;
/** Values whose bits are remembered; a chain's strangers and tokens fit. */
const REMEMBERED_MAX = 50_000;

export interface BloomMaker {
  /** Returns the bloom of these addresses and topics as hex. */
  make(values: Iterable<string>): string;
}

export function createBloomMaker(): BloomMaker {
  const remembered = new Map<string, readonly number[]>();

  function bitsOf(value: string): readonly number[] {
    const known = remembered.get(value);
    if (known !== undefined) return known;
    const bits = computeBits(value);
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(value, bits);
    return bits;
  }

  return {
    make: (values) => {
      const bloom = Buffer.alloc(BLOOM_BYTES);
      for (const value of values) {
        for (const bit of bitsOf(value)) {
          const at = BLOOM_BYTES - 1 - (bit >> 3);
          bloom[at] = (bloom[at] ?? 0) | (1 << (bit & 7));
        }
      }
      return `0x${bloom.toString("hex")}`;
    },
  };
}

function computeBits(value: string): readonly number[] {
  // CAST: addresses and topics of this chain begin with 0x.
  const hash = hexToBytes(keccak256(value as Hex));
  return [0, 2, 4].map((at) => (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) & 2047);
}
