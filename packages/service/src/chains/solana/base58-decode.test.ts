/** Our decoder against the library's. */
import { getBase58Decoder, getBase58Encoder } from "@solana/kit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeExactly } from "./base58-decode.ts";

const encoder = getBase58Encoder();
const decoder = getBase58Decoder();
const SIZES = [32, 64] as const;

/** Bytes with and without leading zeros, and the extremes. */
const bytesOf = (size: number) =>
  fc
    .tuple(fc.uint8Array({ minLength: size, maxLength: size }), fc.nat(size))
    .map(([bytes, zeros]) => bytes.fill(0, 0, zeros % 5 === 0 ? zeros : 0));

test.each(SIZES)("decodes every %d bytes that the library encodes", (size) => {
  const check = (bytes: Uint8Array) => {
    expect(decodeExactly(decoder.decode(bytes), size)).toEqual(bytes);
  };
  fc.assert(fc.property(bytesOf(size), check));
  check(new Uint8Array(size));
  check(new Uint8Array(size).fill(255));
});

test.each(SIZES)("refuses texts that the library does not decode to %d bytes", (size) => {
  const character = fc.constantFrom(
    ..."123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
  );
  const text = fc.string({ unit: character, minLength: size, maxLength: Math.ceil(size * 1.4) });
  fc.assert(
    fc.property(text, (given) => {
      const expected = Uint8Array.from(encoder.encode(given));
      expect(decodeExactly(given, size)).toEqual(expected.length === size ? expected : null);
    }),
  );
});

test.each([
  "",
  "0",
  "I",
  "l",
  "O",
  "é",
  "1".repeat(31),
  "1".repeat(33),
  "z".repeat(44),
  `${"1".repeat(31)}/`,
])("refuses %j", (text) => {
  expect(decodeExactly(text, 32)).toBeNull();
});
