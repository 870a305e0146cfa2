import type { Brand } from "./brand.ts";

/** Bytes as `0x` and lower-case hex digits. */
export type Hex = `0x${string}`;

/** 32 bytes as lower-case hex: a hash, a commitment, a delivery id. */
export type Hex32 = Brand<Hex, "Hex32">;

/** An EVM address in lower case; the one canonical spelling inside the service. The wire shows EIP-55. */
export type EvmAddress = Brand<Hex, "EvmAddress">;

/** A transaction hash. */
export type TxHash = Brand<Hex, "TxHash">;

/** The native coin of any chain, as the interface spells it on EVM chains. */
// CAST: 20 zero bytes are an address in canonical spelling.
export const NATIVE_TOKEN = "0x0000000000000000000000000000000000000000" as EvmAddress;

/** True for `0x` and exactly 40 hex digits in any case. */
export function isEvmAddress(text: string): boolean {
  return /^0x[0-9a-fA-F]{40}$/.test(text);
}

/** Canonical spelling of an address whose form was already checked; throws when it was not. */
export function toEvmAddress(text: string): EvmAddress {
  if (!isEvmAddress(text)) throw new TypeError(`expected 0x and 40 hex digits, got "${text}"`);
  // CAST: the form was checked on the line above.
  return text.toLowerCase() as EvmAddress;
}

/** Canonical spelling of 32 bytes; throws on any other form. */
export function toHex32(text: string): Hex32 {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) {
    throw new TypeError(`expected 0x and 64 hex digits, got "${text}"`);
  }
  // CAST: the form was checked above.
  return text.toLowerCase() as Hex32;
}

/** Canonical spelling of a transaction hash. */
export function toTxHash(text: string): TxHash {
  // CAST: a transaction hash is 32 bytes, which toHex32 checked.
  return toHex32(text) as Hex as TxHash;
}

/** An address as 32 bytes, padded with zeros on the left. */
export function padAddress(address: EvmAddress): Hex32 {
  return toHex32(`0x${address.slice(2).padStart(64, "0")}`);
}

/** The address in 32 left-padded bytes; throws when the upper 12 bytes are not zero. */
export function unpadAddress(word: Hex32): EvmAddress {
  if (!word.startsWith(`0x${"0".repeat(24)}`)) {
    throw new TypeError(`expected 12 zero bytes before the address, got "${word}"`);
  }
  return toEvmAddress(`0x${word.slice(26)}`);
}
