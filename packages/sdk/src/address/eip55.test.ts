import { describe, expect, test } from "vitest";
import { isAddress, parseAddress, toChecksumAddress } from "./eip55.ts";

/** The examples of EIP-55. */
const PUBLISHED = [
  "0x52908400098527886E0F7030069857D2E4169EE7",
  "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
  "0xde709f2102306220921060314715629080e2fb77",
  "0x27b1fdb04752bbc536007a920d24acb045561c26",
  "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
  "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
  "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
];

describe("EIP-55", () => {
  test.each(PUBLISHED)("formats %s from its lower-case form", (address) => {
    expect(toChecksumAddress(address.toLowerCase())).toBe(address);
  });

  test.each(PUBLISHED)("accepts %s in lower case, upper case and checksummed", (address) => {
    expect(isAddress(address)).toBe(true);
    expect(isAddress(address.toLowerCase())).toBe(true);
    expect(isAddress(`0x${address.slice(2).toUpperCase()}`)).toBe(true);
  });

  test("rejects an invalid checksum and names the valid one", () => {
    const wrong = "0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    expect(isAddress(wrong)).toBe(false);
    expect(() => parseAddress("destWallet", wrong)).toThrow(
      `destWallet: expected the EIP-55 checksum 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed, got "${wrong}"`,
    );
  });

  test.each([
    "",
    "0x",
    "0x12",
    `0x${"0".repeat(39)}`,
    `0x${"0".repeat(41)}`,
    `0x${"g".repeat(40)}`,
  ])("rejects %j, which is not 20 bytes of hex", (text) => {
    expect(isAddress(text)).toBe(false);
    expect(() => parseAddress("factory", text)).toThrow("factory: expected 0x and 40 hex digits");
  });
});
