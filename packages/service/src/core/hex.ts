import type { Brand } from "./brand.ts";
import type { ChainKind } from "./chain-registry.ts";

/** Bytes as `0x` and lower-case hex digits. */
export type Hex = `0x${string}`;

/** 32 bytes as lower-case hex: a hash, a commitment, a delivery id. */
export type Hex32 = Brand<Hex, "Hex32">;

/**
 * An address in canonical form: lower-case hex, 20 bytes on EVM chains and 32 on Solana. On the wire it has the form of its
 * family: EIP-55 or base58.
 */
export type Address = EvmAddress | SolanaAddress;

/** An address on EVM chains: 20 bytes. */
export type EvmAddress = Brand<Hex, "EvmAddress">;

/** An address on Solana: 32 bytes. */
export type SolanaAddress = Brand<Hex, "SolanaAddress">;

/** A transaction id: the hash of 32 bytes on EVM chains, the first signature of 64 bytes on Solana. */
export type TxHash = Brand<Hex, "TxHash">;

/** The native coin of any EVM chain, as on the wire. */
// CAST: 20 zero bytes are a canonical address.
export const NATIVE_TOKEN = "0x0000000000000000000000000000000000000000" as EvmAddress;

/** The native coin of Solana: zero, which is also the address of the system program. */
// CAST: 32 zero bytes are a canonical address.
export const NATIVE_SOL = `0x${"0".repeat(64)}` as SolanaAddress;

/** Returns the native coin of a chain family. */
export function nativeOf(kind: ChainKind): Address {
  return { evm: NATIVE_TOKEN, svm: NATIVE_SOL }[kind];
}

/** Reports whether a token is the native coin of either family. */
export function isNative(token: Address): boolean {
  return token === NATIVE_TOKEN || token === NATIVE_SOL;
}

/** Reports whether a client's text names the native coin of any chain: `native` or the EVM zero address. */
export function isNativeName(text: string): boolean {
  return text === "native" || text.toLowerCase() === NATIVE_TOKEN;
}

/** Returns the chain family of an address, by its length. */
export function familyOf(address: Address): ChainKind {
  return address.length === NATIVE_TOKEN.length ? "evm" : "svm";
}

/** Reports whether a text is `0x` and exactly 40 hex digits in any case. */
export function isEvmAddress(text: string): boolean {
  return /^0x[0-9a-fA-F]{40}$/.test(text);
}

/** Converts an EVM address to canonical form. Throws TypeError for any other text. */
export function toEvmAddress(text: string): EvmAddress {
  if (!isEvmAddress(text)) throw new TypeError(`expected 0x and 40 hex digits, got "${text}"`);
  // CAST: the form was checked on the line above.
  return text.toLowerCase() as EvmAddress;
}

/** Converts a Solana address, in hex, to canonical form. Throws TypeError for any other text. */
export function toSolanaAddress(text: string): SolanaAddress {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) {
    throw new TypeError(`expected 0x and 64 hex digits, got "${text}"`);
  }
  // CAST: the form was checked above.
  return text.toLowerCase() as SolanaAddress;
}

/** Converts an address of any family, in hex, to canonical form. Throws TypeError for any other text. */
export function toAddress(text: string): Address {
  if (!/^0x([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$/.test(text)) {
    throw new TypeError(`expected 0x and 40 or 64 hex digits, got "${text}"`);
  }
  // CAST: the form was checked above.
  return text.toLowerCase() as Address;
}

/** Converts 32 bytes in hex to canonical form. Throws TypeError for any other text. */
export function toHex32(text: string): Hex32 {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) {
    throw new TypeError(`expected 0x and 64 hex digits, got "${text}"`);
  }
  // CAST: the form was checked above.
  return text.toLowerCase() as Hex32;
}

/** Converts a transaction id of any family, in hex, to canonical form. Throws TypeError for any other text. */
export function toTxHash(text: string): TxHash {
  if (!/^0x([0-9a-fA-F]{64}|[0-9a-fA-F]{128})$/.test(text)) {
    throw new TypeError(`expected 0x and 64 or 128 hex digits, got "${text}"`);
  }
  // CAST: the form was checked above.
  return text.toLowerCase() as TxHash;
}

/** Converts bytes in hex to canonical form. Throws TypeError for any other text. */
export function toHex(text: string): Hex {
  if (!/^0x([0-9a-fA-F]{2})*$/.test(text))
    throw new TypeError(`expected bytes in hex, got "${text}"`);
  // CAST: the form was checked on the line above.
  return text.toLowerCase() as Hex;
}

/** Returns an address as 32 bytes; EVM addresses are padded with zeros on the left. */
export function padAddress(address: Address): Hex32 {
  return toHex32(`0x${address.slice(2).padStart(64, "0")}`);
}

/** Returns the address in 32 bytes. Throws TypeError if an EVM address is not padded with zeros. */
export function unpadAddress(word: Hex32, kind: ChainKind = "evm"): Address {
  return { evm: unpadEvmAddress, svm: toSolanaAddress }[kind](word);
}

function unpadEvmAddress(word: Hex32): EvmAddress {
  if (!word.startsWith(`0x${"0".repeat(24)}`)) {
    throw new TypeError(`expected 12 zero bytes before the address, got "${word}"`);
  }
  return toEvmAddress(`0x${word.slice(26)}`);
}
