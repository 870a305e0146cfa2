/**
 * The commitment: the fields that a deposit address promises. Their hash is the CREATE2 salt of the wallet, so the
 * address itself fixes all of them. The format never changes; a new one takes a new version.
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
/** Form of the wallet: 1 is the 51-byte proxy. */
export const WALLET_KIND = 1;

/** The fields of a commitment. Addresses are 20 bytes, or 32 bytes as the quote carries them, or base58 of Solana. */
export interface CommitmentFields {
  /** The integrator's UUID, or the same padded to 32 bytes. */
  readonly integrator: string;
  /** User id of 20 bytes, zero where there is none. */
  readonly userId: string;
  /** Bridge chain id of the destination (not the EVM chain id), a uint16. */
  readonly destChain: number;
  /** Recipient on the destination chain. */
  readonly destWallet: string;
  /** Token to deliver; zero is the native coin of any chain. */
  readonly destToken: string;
  /** Who may take the funds back on the source chain. */
  readonly refundAuthority: string;
  /** The most that all fees together may take, in basis points. */
  readonly maxFeeBps: number;
  /** The most that a priced conversion may lose on top, in basis points. */
  readonly maxSlippageBps: number;
}

/** The name of a field of a commitment. */
export type CommitmentField = keyof CommitmentFields;

/** The fields in the order of the preimage. */
export const COMMITMENT_FIELDS = [
  "integrator",
  "userId",
  "destChain",
  "destWallet",
  "destToken",
  "refundAuthority",
  "maxFeeBps",
  "maxSlippageBps",
] as const satisfies readonly CommitmentField[];

/** The hash of a commitment: keccak-256 over domain, version, wallet kind and the eight fields, a word each. */
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

/** One field as the word it has in the preimage; two spellings of a value give the same word. */
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
    default:
      return field satisfies never;
  }
}

/** An address of any chain as a word: 20 bytes are padded on the left, 32 bytes are taken as they are, in hex or base58. */
export function encodeAddressWord(field: string, text: string): Uint8Array {
  if (typeof text === "string" && isHexOfLength(text, 20)) {
    return padWord(parseAddress(field, text));
  }
  if (typeof text === "string" && isHexOfLength(text, 32)) return parseBytes(field, text, 32);
  // No text is of both: base58 has no zero.
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

/** A user id is no address: the case of its digits says nothing. */
function encodeUserId(text: string): Uint8Array {
  if (typeof text === "string" && isHexOfLength(text, 20)) {
    return padWord(parseBytes("userId", text, 20));
  }
  if (typeof text === "string" && isHexOfLength(text, 32)) return parseBytes("userId", text, 32);
  throw new AddressInputError("userId", "0x and 40 or 64 hex digits", text);
}
