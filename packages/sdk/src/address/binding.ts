/**
 * The binding of a Solana deposit address (a vault): the signed message and its claims, without the check of the signature,
 * which `verify-vault.ts` does, and which browsers can do by themselves.
 *
 * Assumes: `bindingAccount` comes from the caller's own configuration, not from the quote. A forged account could sign a
 * binding for any address.
 */
import { concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { parseBase58 } from "./base58.ts";
import { type CommitmentFields, hashCommitment } from "./commitment.ts";
import { type Hex, parseBytes } from "./encoding.ts";
import {
  type ClaimedCommitment,
  compare,
  findFieldMismatch,
  findFormatMismatch,
  findHashMismatch,
  type Mismatch,
} from "./verify.ts";

/** Prefix of the signed message. The hash of the commitment and the vault follow it. */
export const BINDING_DOMAIN = "sluice/solana/binding/v1";

/** The commitment of a vault, as the quote states it. */
export interface ClaimedVault extends ClaimedCommitment {
  /** The signer's signature over commitment and vault, 64 bytes in hex. */
  readonly binding: string;
}

/** Input of `verifyVault`. */
export interface VerifyVaultRequest {
  /** The deposit address to verify, in base58. */
  readonly address: string;
  /** The commitment that the quote states for it, with the binding. */
  readonly commitment: ClaimedVault;
  /** The account whose bindings the caller trusts, in base58. */
  readonly bindingAccount: string;
  /** The caller's own values. Fields must be equal; the two caps may be lower. Absent fields are not compared. */
  readonly expected?: Partial<CommitmentFields>;
}

/** Result of `verifyVault`. Only an address with `ok` may be paid. */
export type VaultVerification =
  | { readonly kind: "ok"; readonly address: string; readonly commitment: Hex }
  | Mismatch;

/** A binding whose claims are right: the address is verified if the account signed the message. */
export interface SignedBinding {
  readonly kind: "signed";
  readonly commitment: Hex;
  readonly message: Uint8Array;
  /** Ed25519, 64 bytes. */
  readonly signature: Uint8Array;
  /** Public key, 32 bytes. */
  readonly account: Uint8Array;
}

/**
 * Checks everything of a Solana deposit address but the signature, which the caller has to verify. Malformed input throws
 * `AddressInputError`, which names the field.
 */
export function readBinding(request: VerifyVaultRequest): SignedBinding | Mismatch {
  const { address, commitment, bindingAccount } = request;
  const vault = parseBase58("address", address);
  const account = parseBase58("bindingAccount", bindingAccount);
  const signature = parseBytes("commitment.binding", commitment.binding, 64);
  const hash = hashCommitment(commitment);
  return (
    findFormatMismatch(commitment) ??
    compare("factory", bindingAccount, commitment.factory) ??
    findFieldMismatch(commitment, request.expected ?? {}) ??
    findHashMismatch(commitment, hash) ?? {
      kind: "signed",
      commitment: hash,
      message: concatBytes(utf8ToBytes(BINDING_DOMAIN), hexToBytes(hash.slice(2)), vault),
      signature,
      account,
    }
  );
}
