import type { Brand } from "./brand.ts";
import type { ChainKind } from "./chain-registry.ts";

/** Bytes as `0x` and lower-case hex digits. */
export type Hex = `0x${string}`;

/** 32 bytes as lower-case hex: a hash, a commitment, a delivery id. */
export type Hex32 = Brand<Hex, "Hex32">;

/**
 * An address in the one canonical spelling inside the service: lower-case hex, 20 bytes on EVM chains and 32 on Solana.
 * The wire shows each as its family writes it: EIP-55, base58.
 */
export type Address = Brand<Hex, "Address">;

/** An address where only EVM chains are meant. */
export type EvmAddress = Address;

/** What a transaction is known by: its hash on EVM chains, 32 bytes; its first signature on Solana, 64. */
export type TxHash = Brand<Hex, "TxHash">;

/** The native coin of any EVM chain, as the interface spells it. */
// CAST: 20 zero bytes are an address in canonical spelling.
export const NATIVE_TOKEN = "0x0000000000000000000000000000000000000000" as EvmAddress;

/** The native coin of Solana: zero like any other, which is the address of its system program. */
// CAST: 32 zero bytes are an address in canonical spelling.
export const NATIVE_SOL = `0x${"0".repeat(64)}` as Address;

/** The native coin of the chains of a family. */
export function nativeOf(kind: ChainKind): Address {
  return { evm: NATIVE_TOKEN, svm: NATIVE_SOL }[kind];
}

/** Whether a token is the native coin of its chain, of any family. */
export function isNative(token: Address): boolean {
  return token === NATIVE_TOKEN || token === NATIVE_SOL;
}

/** How clients write the native coin of any chain: by the word, or as the zero address of EVM chains. */
export function isNativeName(text: string): boolean {
  return text === "native" || text.toLowerCase() === NATIVE_TOKEN;
}

/** The family that an address is of. */
export function familyOf(address: Address): ChainKind {
  return address.length === NATIVE_TOKEN.length ? "evm" : "svm";
}

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

/** Canonical spelling of an address of any family whose bytes are in hex; throws on any other form. */
export function toAddress(text: string): Address {
  if (!/^0x([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/.test(text)) {
    throw new TypeError(`expected 0x and 40 or 64 hex digits, got "${text}"`);
  }
  // CAST: the form was checked above.
  return text.toLowerCase() as Address;
}

/** Canonical spelling of 32 bytes; throws on any other form. */
export function toHex32(text: string): Hex32 {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) {
    throw new TypeError(`expected 0x and 64 hex digits, got "${text}"`);
  }
  // CAST: the form was checked above.
  return text.toLowerCase() as Hex32;
}

/** Canonical spelling of what a transaction is known by, of any family; throws on any other form. */
export function toTxHash(text: string): TxHash {
  if (!/^0x([0-9a-fA-F]{64}|[0-9a-fA-F]{128})$/.test(text)) {
    throw new TypeError(`expected 0x and 64 or 128 hex digits, got "${text}"`);
  }
  // CAST: the form was checked above.
  return text.toLowerCase() as TxHash;
}

/** Canonical spelling of bytes in hex; throws on any other form. */
export function toHex(text: string): Hex {
  if (!/^0x([0-9a-fA-F]{2})*$/.test(text))
    throw new TypeError(`expected bytes in hex, got "${text}"`);
  // CAST: the form was checked on the line above.
  return text.toLowerCase() as Hex;
}

/** An address as 32 bytes: of EVM padded with zeros on the left. */
export function padAddress(address: Address): Hex32 {
  return toHex32(`0x${address.slice(2).padStart(64, "0")}`);
}

/** The address of a family in 32 bytes; throws when an EVM address is not padded with zeros. */
export function unpadAddress(word: Hex32, kind: ChainKind = "evm"): Address {
  return { evm: unpadEvmAddress, svm: toAddress }[kind](word);
}

function unpadEvmAddress(word: Hex32): EvmAddress {
  if (!word.startsWith(`0x${"0".repeat(24)}`)) {
    throw new TypeError(`expected 12 zero bytes before the address, got "${word}"`);
  }
  return toEvmAddress(`0x${word.slice(26)}`);
}
