/** Addresses and ids between the service's hex and the base58 of Solana. */
import { address, getBase58Decoder, getBase58Encoder, isAddress } from "@solana/kit";
import {
  type Address,
  type SolanaAddress,
  toSolanaAddress,
  type TxHash,
  toTxHash,
} from "../../core/hex.ts";

/** 32 bytes in base58. */
export type Base58 = ReturnType<typeof address>;

const encoder = getBase58Encoder();
const decoder = getBase58Decoder();

/** An address, hash or id of 32 bytes as Solana writes it. */
export function toBase58(bytes: Address | `0x${string}`): Base58 {
  return address(decoder.decode(bytesOf(bytes)));
}

/** What 32 bytes in base58 are in hex. Throws on any other text. */
export function fromBase58(text: string): SolanaAddress {
  if (!isAddress(text)) throw new TypeError("expected 32 bytes in base58");
  return toSolanaAddress(hexOf(encoder.encode(text)));
}

/** Whether a transaction's id has the form of this family: 64 bytes. */
export function isSignature(txHash: TxHash): boolean {
  return txHash.length === 2 + 128;
}

/** A transaction's id as Solana writes it. */
export function toSignature(txHash: TxHash): string {
  return decoder.decode(bytesOf(txHash));
}

/** The id of a transaction whose first signature is written in base58. Throws on any other text. */
export function fromSignature(text: string): TxHash {
  return toTxHash(hexOf(encoder.encode(text)));
}

/** The bytes of any text in base58. */
export function decodeBase58(text: string): Uint8Array {
  return Uint8Array.from(encoder.encode(text));
}

/** Bytes of hex. */
export function bytesOf(hex: `0x${string}`): Uint8Array {
  return Buffer.from(hex.slice(2), "hex");
}

/** Hex of bytes. */
export function hexOf(bytes: ArrayLike<number> & Iterable<number>): `0x${string}` {
  return `0x${Buffer.from(Uint8Array.from(bytes)).toString("hex")}`;
}
