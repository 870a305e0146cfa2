/** secp256k1 for the vectors, implemented here like their encoding. Only for keys that are public. */
import { bytes, hashOf, hex, keccakText, word } from "./vector-encoding.ts";

/** secp256k1 (SEC 2, section 2.4.1). */
const FIELD = 2n ** 256n - 2n ** 32n - 977n;
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const GENERATOR: Point = [
  0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
];

type Point = readonly [bigint, bigint];

const modulo = (value: bigint, by: bigint) => ((value % by) + by) % by;

/** Returns the inverse modulo a prime, by Fermat. */
function invert(value: bigint, by: bigint): bigint {
  let [result, base] = [1n, modulo(value, by)];
  for (let left = by - 2n; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * base) % by;
    base = (base * base) % by;
  }
  return result;
}

function addPoints(one: Point | null, other: Point | null): Point | null {
  if (!one || !other) return one ?? other;
  const [[x, y], [u, v]] = [one, other];
  if (x === u && modulo(y + v, FIELD) === 0n) return null;
  const slope =
    x === u ? 3n * x * x * invert(2n * y, FIELD) : (v - y) * invert(modulo(u - x, FIELD), FIELD);
  const sum = modulo(slope * slope - x - u, FIELD);
  return [sum, modulo(slope * (x - sum) - y, FIELD)];
}

function multiply(scalar: bigint): Point {
  let [sum, power]: [Point | null, Point | null] = [null, GENERATOR];
  for (let left = scalar; left > 0n; left >>= 1n) {
    if (left & 1n) sum = addPoints(sum, power);
    power = addPoints(power, power);
  }
  if (!sum) throw new RangeError("the scalar is a multiple of the order");
  return sum;
}

const toNumber = (data: Buffer) => BigInt(hex(data));

/** Keys that everybody knows, of the signatures of the vectors only. */
export const keyOf = (index: number) => toNumber(keccakText(`vector attestor ${index}`)) % ORDER;

export function accountOf(key: bigint): string {
  const [x, y] = multiply(key);
  return hex(hashOf(word(x), word(y)).subarray(12));
}

/** Signs a digest with the lower `s`. The nonce only has to be the same each time. */
export function sign(key: bigint, digest: string): Buffer {
  const nonce = toNumber(hashOf(word(key), bytes(digest))) % ORDER;
  const [x, y] = multiply(nonce);
  const r = x % ORDER;
  const s = (invert(nonce, ORDER) * (toNumber(bytes(digest)) + r * key)) % ORDER;
  const isLow = s <= ORDER / 2n;
  const parity = (y & 1n) === (isLow ? 1n : 0n) ? 28 : 27;
  return Buffer.concat([word(r), word(isLow ? s : ORDER - s), Buffer.from([parity])]);
}

/** The same signature with the higher `s`, which nodes accept and the contracts do not. */
export function malleable(signature: Buffer): Buffer {
  const s = ORDER - toNumber(signature.subarray(32, 64));
  const parity = Buffer.from([55 - (signature[64] ?? 0)]);
  return Buffer.concat([signature.subarray(0, 32), word(s), parity]);
}
