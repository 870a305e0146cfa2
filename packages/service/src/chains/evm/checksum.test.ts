import { describe, expect, test } from "vitest";
import { hasValidChecksum, toChecksumAddress } from "./checksum.ts";

/** Examples of EIP-55. */
const SPELLED = [
  "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
  "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
  "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
];

describe("EIP-55", () => {
  test.each(SPELLED)("computes %s from lower case", (address) => {
    expect(toChecksumAddress(address.toLowerCase())).toBe(address);
  });

  test.each(SPELLED)("accepts %s, also in all lower or all upper case", (address) => {
    expect(hasValidChecksum(address)).toBe(true);
    expect(hasValidChecksum(address.toLowerCase())).toBe(true);
    expect(hasValidChecksum(`0x${address.slice(2).toUpperCase()}`)).toBe(true);
  });

  test.each([
    ["one letter in the other case", "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"],
    ["one mistyped digit", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAee"],
    ["a missing digit", "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe"],
    ["no characters", ""],
  ])("rejects an address with %s", (_what, text) => {
    expect(hasValidChecksum(text)).toBe(false);
  });
});
