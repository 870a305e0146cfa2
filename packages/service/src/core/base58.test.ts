import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { displayTxHash, parseSolanaAddress, parseSolanaTxHash, toBase58 } from "./base58.ts";
import { NATIVE_SOL, toAddress, toHex, toTxHash } from "./hex.ts";

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

const hexOf = (bytes: Uint8Array) => toHex(`0x${Buffer.from(bytes).toString("hex")}`);
const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
/** Addresses, including those with leading zeros, which base58 encodes separately. */
const addresses = fc
  .tuple(bytesOf(32), fc.integer({ min: 0, max: 32 }))
  .map(([bytes, zeros]) => toAddress(hexOf(bytes.fill(0, 0, zeros))));

describe("base58", () => {
  test.each([
    ["0x48656c6c6f20576f726c6421", "2NEpo7TZRRrLZSi2U"],
    [
      "0x54686520717569636b2062726f776e20666f78206a756d7073206f76657220746865206c617a7920646f672e",
      "USm3fpXnKG5EUBx2ndxBDMPVciP5hGey2Jh4NDv6gmeo1LkMeiKrLJUUBk6Z",
    ],
    ["0x0000287fb4cd", "11233QC4"],
  ])("encodes %s as in the specification", (bytes, text) => {
    expect(toBase58(toHex(bytes))).toBe(text);
  });

  test.each([
    [NATIVE_SOL, "11111111111111111111111111111111"],
    [
      "0x06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9",
      "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
    ],
    [
      "0x069b8857feab8184fb687f634618c035dac439dc1aeb3b5598a0f00000000001",
      "So11111111111111111111111111111111111111112",
    ],
    [
      "0xc6fa7af3bedbad3a3d65f36aabc97431b1bbe4c2d2f6e0e47ca60203452f5d61",
      "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
    ],
  ])("converts %s both ways", (bytes, text) => {
    expect(toBase58(toAddress(bytes))).toBe(text);
    expect(parseSolanaAddress(text)).toBe(bytes);
  });

  test("round-trips every address, including leading zeros", () => {
    fc.assert(
      fc.property(addresses, (address) => {
        expect(parseSolanaAddress(toBase58(address))).toBe(address);
      }),
      { numRuns: 1000 },
    );
  });

  test("accepts only the canonical text of an address", () => {
    const texts = fc.string({
      unit: fc.constantFrom(...ALPHABET),
      minLength: 30,
      maxLength: 46,
    });
    fc.assert(
      fc.property(texts, (text) => {
        const address = parseSolanaAddress(text);
        expect(address === undefined ? text : toBase58(address)).toBe(text);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ["nothing", ""],
    ["31 bytes", "1".repeat(31)],
    ["33 bytes", "1".repeat(33)],
    ["a character outside the alphabet", "0".repeat(32)],
    ["an l instead of an L", "lokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"],
    ["a space around it", " 11111111111111111111111111111111"],
    ["an address of an EVM chain", `0x${"11".repeat(20)}`],
    ["32 bytes in hex", `0x${"11".repeat(32)}`],
    ["a transaction id of 64 bytes", "1".repeat(64)],
    ["very long text", "z".repeat(100_000)],
  ])("refuses %s as an address", (_, text) => {
    expect(parseSolanaAddress(text)).toBe(undefined);
  });
});

describe("a transaction id", () => {
  test("round-trips through base58 on Solana", () => {
    fc.assert(
      fc.property(bytesOf(64), (bytes) => {
        const txHash = toTxHash(hexOf(bytes));
        const shown = displayTxHash(txHash);
        expect(shown).toMatch(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/);
        expect(parseSolanaTxHash(shown)).toBe(txHash);
      }),
    );
  });

  test("is hex on EVM chains", () => {
    const hash = `0x${"aB".repeat(32)}`;
    expect(displayTxHash(hash)).toBe(hash.toLowerCase());
  });

  test.each(["1".repeat(63), "1".repeat(65), "1".repeat(32), "", `0x${"11".repeat(64)}`])(
    "is not parsed from %j",
    (text) => {
      expect(parseSolanaTxHash(text)).toBe(undefined);
    },
  );
});
