import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { parseSolanaAddress } from "./base58.ts";
import { isPublicKey } from "./ed25519.ts";
import { type Address, NATIVE_SOL, toAddress } from "./hex.ts";

/** The published test vectors of RFC 8032, section 7.1. */
const PUBLISHED = [
  "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
  "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
  "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
].map((key) => toAddress(`0x${key}`));

function read(text: string): Address {
  const address = parseSolanaAddress(text);
  if (!address) throw new Error(`not an address: ${text}`);
  return address;
}

describe("a public key", () => {
  test.each(PUBLISHED)("is %s, a test vector of the standard", (key) => {
    expect(isPublicKey(key)).toBe(true);
  });

  test("is accepted for every generated key", () => {
    for (let count = 0; count < 20; count += 1) {
      const { publicKey } = generateKeyPairSync("ed25519");
      const bytes = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
      expect(isPublicKey(toAddress(`0x${bytes.toString("hex")}`))).toBe(true);
    }
  });

  test.each([
    ["the system program, a point of small order", NATIVE_SOL],
    ["the neutral element", toAddress(`0x01${"00".repeat(31)}`)],
    // Of the seeds "" and 1 under BPFLoader1111111111111111111111111111111111.
    ["an address derived for a program", read("BwqrghZA2htAcqq8dzP1WDAhTXYTYWj7CHxF5j7TDBAe")],
    ["a coordinate not below the prime", toAddress(`0x${"ff".repeat(32)}`)],
  ])("is not %s", (_, address) => {
    expect(isPublicKey(address)).toBe(false);
  });

  test("is rarely found in a mistyped address", () => {
    const [key = NATIVE_SOL] = PUBLISHED;
    const mistyped = Array.from({ length: 256 }, (_, byte) =>
      toAddress(`0x${byte.toString(16).padStart(2, "0")}${key.slice(4)}`),
    ).filter((address) => address !== key);
    const passed = mistyped.filter(isPublicKey);
    expect(passed.length).toBeGreaterThan(0);
    expect(passed.length).toBeLessThan(255 / 8);
  });
});
