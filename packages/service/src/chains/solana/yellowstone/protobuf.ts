/** The wire format of Protocol Buffers, as far as the messages of a block stream need it. */

/** A field's value: a number, or bytes (of a text, a message or packed numbers). Undefined: of another form. */
export type FieldValue = number | Uint8Array | undefined;

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
/** A varint of 64 bits has at most this many bytes. */
const VARINT_BYTES_MAX = 10;
/** Up to this many bytes, a varint is exact as a number. */
const VARINT_BYTES_SAFE = 7;

/** Calls back for each field of a message, in order. Throws `TypeError` if the message is malformed. */
export function readFields(
  message: Uint8Array,
  onField: (field: number, value: FieldValue) => void,
): void {
  let at = 0;
  while (at < message.length) {
    const tag = readVarint(message, at);
    at = tag.end;
    const field = Math.floor(tag.value / 8);
    const form = tag.value % 8;
    if (form === VARINT) {
      const { value, end } = readVarint(message, at);
      at = end;
      onField(field, value);
    } else if (form === BYTES) {
      const length = readVarint(message, at);
      at = length.end + length.value;
      if (at > message.length) throw new TypeError("a field is longer than its message");
      onField(field, message.subarray(length.end, at));
    } else if (form === FIXED64 || form === FIXED32) {
      at += form === FIXED64 ? 8 : 4;
      if (at > message.length) throw new TypeError("a field is longer than its message");
      onField(field, undefined);
    } else {
      throw new TypeError("unknown form of a field");
    }
  }
}

/** Returns the last value of each field of a message, by the field's number. */
export function readMessage(message: Uint8Array): Readonly<Record<number, FieldValue>> {
  const values: Record<number, FieldValue> = {};
  readFields(message, (field, value) => {
    values[field] = value;
  });
  return values;
}

/** Reads the numbers of a repeated field, of which `value` holds one, or several if they are packed. */
export function readNumbers(value: FieldValue): readonly number[] {
  if (typeof value === "number") return [value];
  const numbers: number[] = [];
  const packed = expectBytes(value);
  for (let at = 0; at < packed.length;) {
    const { value: number, end } = readVarint(packed, at);
    numbers.push(number);
    at = end;
  }
  return numbers;
}

/** Returns a value that must be bytes. */
export function expectBytes(value: FieldValue): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new TypeError("expected bytes");
}

/** Returns a number; zero without a value, since a message leaves zeros out. */
export function toNumber(value: FieldValue): number {
  if (value === undefined || typeof value === "number") return value ?? 0;
  throw new TypeError("expected a number");
}

/** Returns a text; empty without a value. */
export function toText(value: FieldValue): string {
  if (value === undefined) return "";
  const { buffer, byteOffset, length } = expectBytes(value);
  return Buffer.from(buffer, byteOffset, length).toString("utf8");
}

/** Reads a number of up to 64 bits. Above the safe integers it is the nearest number, as in JSON. */
function readVarint(bytes: Uint8Array, start: number): { value: number; end: number } {
  let value = 0;
  let factor = 1;
  for (let index = 0; index < VARINT_BYTES_MAX; index += 1) {
    const byte = bytes[start + index];
    if (byte === undefined) break;
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) {
      const end = start + index + 1;
      return { value: index < VARINT_BYTES_SAFE ? value : toNearest(bytes, start, end), end };
    }
    factor *= 128;
  }
  throw new TypeError("a number does not end");
}

function toNearest(bytes: Uint8Array, start: number, end: number): number {
  let value = 0n;
  for (let at = end - 1; at >= start; at -= 1)
    value = (value << 7n) | BigInt((bytes[at] ?? 0) & 0x7f);
  return Number(BigInt.asUintN(64, value));
}

/** Encodes a field with a number. */
export function writeNumber(field: number, value: number | bigint): Uint8Array {
  return Buffer.concat([writeVarint(BigInt(field * 8 + VARINT)), writeVarint(BigInt(value))]);
}

/** Encodes a field with a text, or a message of encoded fields. */
export function writeBytes(field: number, ...parts: readonly (string | Uint8Array)[]): Uint8Array {
  const value = Buffer.concat(
    parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)),
  );
  const head = [writeVarint(BigInt(field * 8 + BYTES)), writeVarint(BigInt(value.length))];
  return Buffer.concat([...head, value]);
}

function writeVarint(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let left = value;
  for (; left >= 0x80n; left >>= 7n) bytes.push(Number(left & 0x7fn) | 0x80);
  bytes.push(Number(left));
  return Uint8Array.from(bytes);
}
