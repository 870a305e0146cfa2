/** EVM addresses in EIP-55: the case of the letters is a checksum. */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import {
  AddressInputError,
  type Hex,
  isHexOfLength,
  keccak,
  parseBytes,
  toHex,
} from "./encoding.ts";

/** Formats 20 bytes as an address in EIP-55. */
export function formatAddress(bytes: Uint8Array): Hex {
  const digits = toHex(bytes).slice(2);
  const hash = toHex(keccak(utf8ToBytes(digits))).slice(2);
  let text = "";
  for (const [index, digit] of [...digits].entries()) {
    text += Number.parseInt(hash.charAt(index), 16) >= 8 ? digit.toUpperCase() : digit;
  }
  return `0x${text}`;
}

/** Converts an address, in any form that `parseAddress` accepts, to EIP-55. */
export function toChecksumAddress(address: string): Hex {
  return formatAddress(parseAddress("address", address));
}

/** Reports whether the text is 20 bytes of hex in lower case, in upper case, or with a valid EIP-55 checksum. */
export function isAddress(text: string): boolean {
  if (!isHexOfLength(text, 20)) return false;
  const digits = text.slice(2);
  if (digits === digits.toLowerCase() || digits === digits.toUpperCase()) return true;
  return formatAddress(parseBytes("address", text, 20)) === text;
}

/** Returns the 20 bytes of an address. Mixed case must have a valid checksum, so that a typing error is rejected. */
export function parseAddress(field: string, text: string): Uint8Array {
  const bytes = parseBytes(field, text, 20);
  if (!isAddress(text)) {
    throw new AddressInputError(field, `the EIP-55 checksum ${formatAddress(bytes)}`, text);
  }
  return bytes;
}
