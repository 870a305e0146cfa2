/** Conversion of addresses and ids between the service's hex and Solana's base58. */
import { address, getBase58Decoder, getBase58Encoder } from "@solana/kit";
import {
  type Address,
  type SolanaAddress,
  toSolanaAddress,
  type TxHash,
  toTxHash,
} from "../../core/hex.ts";
import { decodeExactly } from "./base58-decode.ts";

/** 32 bytes in base58. */
export type Base58 = ReturnType<typeof address>;

const encoder = getBase58Encoder();
const decoder = getBase58Decoder();

/** Encodes an address, hash or id of 32 bytes in base58. */
export function toBase58(bytes: Address | `0x${string}`): Base58 {
  return address(decoder.decode(bytesOf(bytes)));
}

/** Decodes 32 bytes from base58. Throws `TypeError` on any other text. */
export function fromBase58(text: string): SolanaAddress {
  const bytes = decodeExactly(text, 32);
  if (!bytes) throw new TypeError("expected 32 bytes in base58");
  return toSolanaAddress(hexOf(bytes));
}

/** Returns whether a transaction id has Solana's length of 64 bytes. */
export function isSignature(txHash: TxHash): boolean {
  return txHash.length === 2 + 128;
}

/** Encodes a transaction id in base58. */
export function toSignature(txHash: TxHash): string {
  return decoder.decode(bytesOf(txHash));
}

/** Decodes a transaction id (its first signature) from base58. Throws on any other text. */
export function fromSignature(text: string): TxHash {
  const bytes = decodeExactly(text, 64);
  if (!bytes) throw new TypeError("expected 64 bytes in base58");
  return toTxHash(hexOf(bytes));
}

/** Decodes base58 of any length. */
export function decodeBase58(text: string): Uint8Array {
  return Uint8Array.from(encoder.encode(text));
}

/** Decodes hex. */
export function bytesOf(hex: `0x${string}`): Uint8Array {
  return Buffer.from(hex.slice(2), "hex");
}

/** Encodes bytes as hex. */
export function hexOf(bytes: ArrayLike<number> & Iterable<number>): `0x${string}` {
  return `0x${Buffer.from(Uint8Array.from(bytes)).toString("hex")}`;
}
