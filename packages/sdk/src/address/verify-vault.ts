/**
 * Checks a deposit address on Solana before money is sent to it. Nobody but the signer can derive a vault from its
 * commitment, so who vouches for it is what is verified: the binding is a signature of the signer over both.
 *
 * Assumes: `bindingAccount` comes from the caller's own configuration, not from the quote. Whoever chooses it chooses who
 * vouches.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
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

/** What the signed text begins with; the hash of the commitment and the vault follow. */
export const BINDING_DOMAIN = "sluice/solana/binding/v1";

/** A commitment of a vault as the quote carries it. */
export interface ClaimedVault extends ClaimedCommitment {
  /** The signature, 64 bytes in hex. */
  readonly binding: string;
}

/** What to verify. */
export interface VerifyVaultRequest {
  /** The deposit address in question, base58. */
  readonly address: string;
  /** The commitment it is said to have, with the binding. */
  readonly commitment: ClaimedVault;
  /** The account whose bindings the caller trusts, base58. */
  readonly bindingAccount: string;
  /** What the caller wanted. Fields must be equal; the two caps may be lower. Absent fields are not compared. */
  readonly expected?: Partial<CommitmentFields>;
}

/** The outcome of a verification. Only `ok` may be paid to. */
export type VaultVerification =
  { readonly kind: "ok"; readonly address: string; readonly commitment: Hex } | Mismatch;

/** Verifies a deposit address on Solana offline. Malformed input throws `AddressInputError` and names the field. */
export function verifyVault(request: VerifyVaultRequest): VaultVerification {
  const { address, commitment, bindingAccount } = request;
  const vault = parseBase58("address", address);
  const account = parseBase58("bindingAccount", bindingAccount);
  const signature = parseBytes("commitment.binding", commitment.binding, 64);
  const hash = hashCommitment(commitment);
  return (
    findFormatMismatch(commitment) ??
    compare("factory", bindingAccount, commitment.factory) ??
    findFieldMismatch(commitment, request.expected ?? {}) ??
    findHashMismatch(commitment, hash) ??
    (isSigned({ hash, vault, account, signature })
      ? { kind: "ok", address, commitment: hash }
      : {
          kind: "mismatch",
          field: "binding",
          expected: `a signature of ${bindingAccount} over the commitment and the address`,
          actual: commitment.binding,
        })
  );
}

function isSigned(given: {
  readonly hash: Hex;
  readonly vault: Uint8Array;
  readonly account: Uint8Array;
  readonly signature: Uint8Array;
}): boolean {
  const { hash, vault, account, signature } = given;
  const message = concatBytes(utf8ToBytes(BINDING_DOMAIN), hexToBytes(hash.slice(2)), vault);
  // As strict as Solana itself: one encoding of each point.
  return ed25519.verify(signature, message, account, { zip215: false });
}
