import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readFields, readMessage, readNumbers, writeBytes, writeNumber } from "./protobuf.ts";

const bytes = (hex: string) => Buffer.from(hex, "hex");

describe("a number", () => {
  test("of up to 64 bits is the nearest one, as in JSON", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        expect(readMessage(writeNumber(3, value))[3]).toBe(JSON.parse(String(value)));
      }),
    );
  });

  test("is read from packed and from single fields", () => {
    expect(readNumbers(bytes("00ff01ffffffffffffffffff01"))).toEqual([0, 255, 2 ** 64]);
    expect(readNumbers(7)).toEqual([7]);
  });
});

describe("a message", () => {
  test("has the fields that were written, and skips those of other forms", () => {
    const message = Buffer.concat([
      writeNumber(1, 5),
      bytes("110102030405060708"),
      bytes("1d01020304"),
      writeBytes(4, "text", writeNumber(1, 0)),
    ]);
    const fields: unknown[] = [];
    readFields(message, (field, value) => fields.push([field, value]));
    expect(fields).toEqual([
      [1, 5],
      [2, undefined],
      [3, undefined],
      [4, bytes("746578740800")],
    ]);
  });

  test.each([
    ["ends within a number", "08ff"],
    ["has a number of eleven bytes", "08ffffffffffffffffffff01"],
    ["ends within a text", "0a05746578"],
    ["ends within eight bytes", "0901020304"],
    ["ends within four bytes", "0d0102"],
    ["has a field of a group", "0b0c"],
  ])("that %s is malformed", (_, hex) => {
    expect(() => readMessage(bytes(hex))).toThrow(TypeError);
  });
});
