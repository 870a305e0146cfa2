/**
 * The bridge of the fake chain: bridge messages in the layout of Circle's contracts, the fields that the attestation service
 * fills in, and its signature. Shares no code with the route, so that a mistake on one side shows on the other.
 */
import {
  type Address,
  type EvmAddress,
  type Hex,
  type Hex32,
  toHex32,
  type TxHash,
} from "../../src/core/hex.ts";
import { hash } from "./codec.ts";

/** The bridge on one chain, and its links to the other chains. */
export interface FakeCctp {
  /** The chain's domain, as CCTP numbers chains. */
  readonly domain: number;
  readonly messenger: EvmAddress;
  readonly transmitter: EvmAddress;
  readonly token: Address;
  /** The most that one message may burn. */
  readonly burnLimit: bigint;
  /** Receives the bridge's fees. */
  readonly feeRecipient: Address;
  /** By domain. */
  readonly remotes: ReadonlyMap<number, { readonly messenger: Address; readonly token: Address }>;
}

export const FAST = 1000;
export const STANDARD = 2000;

/** Every field in order, with its length in bytes. */
const LAYOUT = [
  ["version", 4],
  ["from", 4],
  ["to", 4],
  ["nonce", 32],
  ["sender", 32],
  ["receiver", 32],
  ["caller", 32],
  ["wanted", 4],
  ["executed", 4],
  ["bodyVersion", 4],
  ["token", 32],
  ["recipient", 32],
  ["amount", 32],
  ["burner", 32],
  ["maxFee", 32],
  ["fee", 32],
  ["expiry", 32],
  ["hook", 32],
] as const;

/** The fields of a bridge message, each as a number. */
export type MessageFields = Readonly<Record<(typeof LAYOUT)[number][0], bigint>>;

export function writeMessage(fields: MessageFields): Hex {
  const parts = LAYOUT.map(([name, bytes]) => fields[name].toString(16).padStart(bytes * 2, "0"));
  return `0x${parts.join("")}`;
}

export function readMessage(bytes: Hex): MessageFields {
  let at = 2;
  const entries = LAYOUT.map(([name, length]) => {
    const digits = bytes.slice(at, at + length * 2);
    at += length * 2;
    return [name, BigInt(`0x${digits}`)] as const;
  });
  // CAST: one entry for each field of the layout.
  return Object.fromEntries(entries) as MessageFields;
}

/** Returns the nonce of a transaction's burn; it does not depend on the block. */
export function nonceOf(domain: number, txHash: TxHash, sent: Hex): Hex32 {
  return hash("nonce", domain, txHash, sent);
}

/** Returns the nonce of a bridge message as text. */
export function showNonce({ nonce }: MessageFields): Hex32 {
  return toHex32(`0x${nonce.toString(16).padStart(64, "0")}`);
}

/** Returns the signature of the attestation service over a bridge message. */
export function signMessage(message: Hex): Hex {
  return hash("bridge", message);
}
