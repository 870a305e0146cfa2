import fc from "fast-check";
import { getBase58Decoder } from "@solana/kit";
import { describe, expect, test } from "vitest";
import { encodeBytes } from "./base58-encode.ts";

const library = getBase58Decoder();

describe("encoding", () => {
  test.each([32, 64])("of %i bytes is the library's", (size) => {
    const bytes = fc.uint8Array({ minLength: size, maxLength: size });
    fc.assert(
      fc.property(bytes, (some) => {
        expect(encodeBytes(some)).toBe(library.decode(some));
      }),
    );
  });

  test("of leading zeros is one digit each", () => {
    for (let zeros = 0; zeros <= 32; zeros += 1) {
      const bytes = Uint8Array.from({ length: 32 }, (_, index) => (index < zeros ? 0 : 255));
      expect(encodeBytes(bytes)).toBe(library.decode(bytes));
    }
  });
});
