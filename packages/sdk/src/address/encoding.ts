/**
 * Parsing and formatting of bytes. Every parser's error names the field and the expected form. Nothing is corrected: a
 * value of another length or form is rejected.
 */
import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";

/** Bytes as `0x` and hex digits, in lower case unless stated otherwise. */
export type Hex = `0x${string}`;

/** Thrown for an address, hash or number that is malformed. Names the field. */
export class AddressInputError extends TypeError {
  override readonly name = "AddressInputError";
  /** The malformed field. */
  readonly field: string;
  /** The form that the field accepts. */
  readonly expected: string;

  constructor(field: string, expected: string, received: unknown) {
    super(`${field}: expected ${expected}, got ${describe(received)}`);
    this.field = field;
    this.expected = expected;
  }
}

/** Returns keccak-256 of the concatenated parts. */
export function keccak(...parts: readonly Uint8Array[]): Uint8Array {
  return keccak_256(concatBytes(...parts));
}

/** Returns keccak-256 of a text in UTF-8, which is how a domain enters a preimage. */
export function keccakText(text: string): Uint8Array {
  return keccak_256(utf8ToBytes(text));
}

/** Formats bytes as lower-case hex. */
export function toHex(bytes: Uint8Array): Hex {
  return `0x${bytesToHex(bytes)}`;
}

/** Parses exactly `length` bytes of hex in any case. */
export function parseBytes(field: string, text: string, length: number): Uint8Array {
  if (typeof text !== "string" || !isHexOfLength(text, length)) {
    throw new AddressInputError(field, `0x and ${length * 2} hex digits`, text);
  }
  return hexToBytes(text.slice(2));
}

/** Reports whether the text is `0x` and the hex digits of exactly `length` bytes. */
export function isHexOfLength(text: string, length: number): boolean {
  return text.length === 2 + length * 2 && /^0x[0-9a-fA-F]*$/.test(text);
}

/** Parses a UUID to its 16 bytes. */
export function parseUuid(field: string, text: string): Uint8Array {
  if (!isUuid(text)) throw new AddressInputError(field, "a UUID", text);
  return hexToBytes(text.replaceAll("-", ""));
}

/** Reports whether the text is a UUID, in any case. */
export function isUuid(text: string): boolean {
  return /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/.test(text);
}

/** Left-pads bytes with zeros to one 32-byte word. */
export function padWord(bytes: Uint8Array): Uint8Array {
  const word = new Uint8Array(32);
  word.set(bytes, 32 - bytes.length);
  return word;
}

/** Encodes an unsigned integer of at most `bits` bits as one big-endian word. */
export function encodeUint(field: string, value: number | bigint, bits: number): Uint8Array {
  const max = 2n ** BigInt(bits) - 1n;
  const integer =
    typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value))
      ? BigInt(value)
      : -1n;
  if (integer < 0n || integer > max) {
    throw new AddressInputError(field, `an integer from 0 to ${max}`, value);
  }
  return hexToBytes(integer.toString(16).padStart(64, "0"));
}

/** Formats the received value for an error message, shortened to 80 characters. */
function describe(value: unknown): string {
  if (typeof value === "string") {
    return value.length > 80 ? `"${value.slice(0, 80)}..."` : `"${value}"`;
  }
  return typeof value === "number" || typeof value === "bigint" ? String(value) : typeof value;
}
