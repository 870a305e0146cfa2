/**
 * Verifies the addresses that `POST /addresses` issued, each against the address that was asked for at its place. Nothing in
 * the answer is trusted, its order included.
 */
import type { CommitmentFields } from "../address/commitment.ts";
import { AddressInputError } from "../address/encoding.ts";
import { type Mismatch, verifyDepositAddress } from "../address/verify.ts";
import { verifyVault } from "../address/verify-vault.ts";
import type { AddressesRequest, AddressesResponse, AddressRequest } from "../wire/index.ts";

/** Contract and account that the caller trusts, from its own configuration and not from an answer. */
export interface TrustedAccounts {
  /** The factory of EVM addresses. */
  readonly factory?: string;
  /** The account whose bindings of Solana addresses are trusted, in base58. */
  readonly bindingAccount?: string;
}

/** Input of `verifyIssuedAddresses`. */
export interface VerifyIssuedRequest {
  readonly request: AddressesRequest;
  readonly response: AddressesResponse;
  readonly trusted: TrustedAccounts;
  /**
   * The caller's own values of an address, beside its user and destination wallet, which are taken from the request. Fields
   * must be equal; the two caps may be lower. Absent fields are not compared.
   */
  readonly expected: (
    asked: AddressRequest,
    index: number,
  ) => Omit<Partial<CommitmentFields>, "userId" | "destWallet">;
}

/** Result of a verification. Only if it is `ok` may any of the addresses be paid. */
export type IssuedVerification =
  | { readonly kind: "ok"; readonly addresses: readonly string[] }
  | (Mismatch & {
      /** Position of the first address that differs. */
      readonly index: number;
    })
  | { readonly kind: "incomplete"; readonly expected: number; readonly actual: number };

/**
 * Verifies issued addresses offline. Malformed input, and an address of a family whose trusted account is not given, throw
 * `AddressInputError`, which names the field.
 */
export function verifyIssuedAddresses({
  request,
  response,
  trusted,
  expected,
}: VerifyIssuedRequest): IssuedVerification {
  const asked = request.addresses;
  const issued = response.addresses;
  if (issued.length !== asked.length) {
    return { kind: "incomplete", expected: asked.length, actual: issued.length };
  }
  const addresses: string[] = [];
  for (const [index, one] of asked.entries()) {
    const answer = issued[index];
    if (!answer) throw new Error("both lists have the same length");
    const { walletAddress: address, payDepositCommitment: commitment } = answer;
    const values = {
      ...expected(one, index),
      userId: toUserId(one.payUserId),
      destWallet: one.destinationAddress,
    };
    const verification =
      answer.chainType === "evm"
        ? verifyDepositAddress({
            address,
            commitment,
            factory: named("trusted.factory", trusted.factory),
            expected: values,
          })
        : verifyVault({
            address,
            commitment: { ...commitment, binding: commitment.binding ?? "" },
            bindingAccount: named("trusted.bindingAccount", trusted.bindingAccount),
            expected: values,
          });
    if (verification.kind === "mismatch") return { ...verification, index };
    addresses.push(address);
  }
  return { kind: "ok", addresses };
}

/** Returns a user id as 20 bytes; requests may leave zeros out. */
function toUserId(asked = "0x"): string {
  return `0x${asked.slice(2).padStart(40, "0")}`;
}

function named(field: string, account: string | undefined): string {
  if (account !== undefined) return account;
  throw new AddressInputError(field, "the account that you trust, for addresses of its family", "");
}
