/** Parses and formats addresses of every chain family. */
import { hasValidChecksum, toChecksumAddress } from "../chains/evm/checksum.ts";
import type { AddressFormat, ParsedAddress } from "../chains/port/index.ts";
import { parseSolanaAddress, toBase58 } from "../core/base58.ts";
import { type Address, familyOf, isEvmAddress, toAddress } from "../core/hex.ts";

export const addressFormat: AddressFormat = {
  display: (address) =>
    familyOf(address) === "evm" ? toChecksumAddress(address) : toBase58(address),
  parse: (text, kind) => (kind === "evm" ? parseEvm(text) : parseSolana(text)),
  parseAny(text) {
    const parsed = isEvmAddress(text) ? parseEvm(text) : parseSolana(text);
    return parsed.kind === "address" ? parsed.address : undefined;
  },
};

function parseEvm(text: string): ParsedAddress {
  if (!isEvmAddress(text)) {
    const family = parseSolanaAddress(text) ? ", as on EVM chains, not an address of Solana" : "";
    return invalid(`0x and 40 hex digits${family}`);
  }
  return hasValidChecksum(text)
    ? parsed(toAddress(text))
    : invalid("an address whose mixed-case checksum (EIP-55) is right");
}

function parseSolana(text: string): ParsedAddress {
  const address = parseSolanaAddress(text);
  if (address) return parsed(address);
  const family = isEvmAddress(text) ? ", as on Solana, not an address of EVM chains" : "";
  return invalid(`32 bytes in base58${family}`);
}

const parsed = (address: Address): ParsedAddress => ({ kind: "address", address });
const invalid = (expected: string): ParsedAddress => ({ kind: "invalid", expected });
