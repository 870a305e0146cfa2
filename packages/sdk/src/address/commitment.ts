/**
 * The commitment: the fields that a deposit address fixes. Their hash is the CREATE2 salt of the wallet, so none of them
 * can change without changing the address. The format never changes; a new format gets a new version.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import { isSolanaAddress, parseBase58 } from "./base58.ts";
import { parseAddress } from "./eip55.ts";
import {
  AddressInputError,
  encodeUint,
  type Hex,
  isHexOfLength,
  isUuid,
  keccak,
  keccakText,
  padWord,
  parseBytes,
  parseUuid,
  toHex,
} from "./encoding.ts";

/** The text whose keccak-256 is the first word of the preimage. */
export const COMMITMENT_DOMAIN = "sluice.deposit.v1";
/** Version of the format. */
export const COMMITMENT_VERSION = 1;
/** Kind of wallet contract: 1 is the 51-byte proxy. */
export const WALLET_KIND = 1;
/** `routes` of an address without a set of routes. */
export const NO_ROUTE_SET: Hex = `0x${"0".repeat(64)}`;
/** Bit of `flags` that allows a settlement without the operator. Every other bit is zero. */
export const UNATTENDED = 1;

/** The fields of a commitment. Addresses are 20 bytes in hex, 32 bytes in hex as in the quote, or base58 on Solana. */
export interface CommitmentFields {
  /** The integrator's UUID, or the same padded to 32 bytes. */
  readonly integrator: string;
  /** User id, 20 bytes; zero if there is none. */
  readonly userId: string;
  /** Bridge chain id of the destination (not the EVM chain id), a uint16. */
  readonly destChain: number;
  /** Recipient on the destination chain. */
  readonly destWallet: string;
  /** Token to deliver; zero is the destination chain's native coin. */
  readonly destToken: string;
  /** Account that can take the funds back on the source chain. */
  readonly refundAuthority: string;
  /** Maximum of all fees together, in basis points. */
  readonly maxFeeBps: number;
  /** Maximum additional loss of a conversion at market price, in basis points. */
  readonly maxSlippageBps: number;
  /** Root of the set of routes that may settle the address, 32 bytes; absent and zero for none (`rootOfRoutes`). */
  readonly routes?: string;
  /** Bit 0 allows a settlement without the operator; absent for 0. */
  readonly flags?: number;
}

/** The name of a commitment field. */
export type CommitmentField = keyof CommitmentFields;

/** The fields, in the order of the preimage. */
export const COMMITMENT_FIELDS = [
  "integrator",
  "userId",
  "destChain",
  "destWallet",
  "destToken",
  "refundAuthority",
  "maxFeeBps",
  "maxSlippageBps",
  "routes",
  "flags",
] as const satisfies readonly CommitmentField[];

/** Returns the hash of a commitment: keccak-256 over domain, version, wallet kind and the ten fields, one word each. */
export function hashCommitment(commitment: CommitmentFields): Hex {
  const words = COMMITMENT_FIELDS.map((field) => encodeField(commitment, field));
  const preimage = concatBytes(
    keccakText(COMMITMENT_DOMAIN),
    encodeUint("version", COMMITMENT_VERSION, 16),
    encodeUint("walletKind", WALLET_KIND, 16),
    ...words,
  );
  return toHex(keccak(preimage));
}

/** Encodes one field as its word of the preimage. All accepted forms of a value give the same word. */
export function encodeField(commitment: CommitmentFields, field: CommitmentField): Uint8Array {
  switch (field) {
    case "integrator":
      return encodeIntegrator(commitment.integrator);
    case "userId":
      return encodeUserId(commitment.userId);
    case "destWallet":
    case "destToken":
    case "refundAuthority":
      return encodeAddressWord(field, commitment[field]);
    case "destChain":
    case "maxFeeBps":
    case "maxSlippageBps":
      return encodeUint(field, commitment[field], 16);
    case "routes":
      return parseBytes(field, commitment.routes ?? NO_ROUTE_SET, 32);
    case "flags":
      return encodeUint(field, commitment.flags ?? 0, 16);
    default:
      return field satisfies never;
  }
}

/** Encodes an address of any chain as a word: 20 bytes are left-padded with zeros; 32 bytes, in hex or base58, are kept. */
export function encodeAddressWord(field: string, text: string): Uint8Array {
  if (typeof text === "string" && isHexOfLength(text, 20)) {
    return padWord(parseAddress(field, text));
  }
  if (typeof text === "string" && isHexOfLength(text, 32)) return parseBytes(field, text, 32);
  // A text cannot be both hex and base58: base58 has no zero, and hex begins with 0x.
  if (typeof text === "string" && isSolanaAddress(text)) return parseBase58(field, text);
  throw new AddressInputError(field, "0x and 40 or 64 hex digits, or 32 bytes in base58", text);
}

function encodeIntegrator(text: string): Uint8Array {
  if (typeof text === "string" && isUuid(text)) return padWord(parseUuid("integrator", text));
  if (typeof text === "string" && isHexOfLength(text, 32)) {
    return parseBytes("integrator", text, 32);
  }
  throw new AddressInputError("integrator", "a UUID, or 0x and 64 hex digits", text);
}

/** Encodes a user id. It is not an address, so the case of its digits is no checksum. */
function encodeUserId(text: string): Uint8Array {
  if (typeof text === "string" && isHexOfLength(text, 20)) {
    return padWord(parseBytes("userId", text, 20));
  }
  if (typeof text === "string" && isHexOfLength(text, 32)) return parseBytes("userId", text, 32);
  throw new AddressInputError("userId", "0x and 40 or 64 hex digits", text);
}
