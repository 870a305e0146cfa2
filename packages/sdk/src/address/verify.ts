/**
 * Checks a deposit address before money is sent to it. Nothing of what the quote claims is believed: the address is
 * computed from the fields, and the fields are compared with what the caller wanted.
 *
 * Assumes: `factory` comes from the caller's own configuration, not from the quote. Whoever chooses the factory
 * chooses the rules.
 */
import {
  COMMITMENT_DOMAIN,
  COMMITMENT_FIELDS,
  COMMITMENT_VERSION,
  type CommitmentField,
  type CommitmentFields,
  encodeField,
  hashCommitment,
  WALLET_KIND,
} from "./commitment.ts";
import { implementationOf, predictWallet } from "./create2.ts";
import { formatAddress, parseAddress } from "./eip55.ts";
import { type Hex, parseBytes, toHex } from "./encoding.ts";

/** A commitment as the quote carries it: the fields, and claims about them that are checked where present. */
export interface ClaimedCommitment extends CommitmentFields {
  readonly domain?: string;
  readonly version?: number;
  readonly walletKind?: number;
  readonly factory?: string;
  readonly implementation?: string;
  /** The claimed hash, 32 bytes. */
  readonly commitment?: string;
}

/** What can differ. */
export type VerifiedField =
  | CommitmentField
  | "domain"
  | "version"
  | "walletKind"
  | "factory"
  | "implementation"
  | "commitment"
  | "binding"
  | "address";

/** The outcome of a verification. Only `ok` may be paid to. */
export type Verification =
  | { readonly kind: "ok"; readonly address: Hex; readonly commitment: Hex }
  | {
      readonly kind: "mismatch";
      /** The first field that differs. */
      readonly field: VerifiedField;
      readonly expected: string;
      readonly actual: string;
    };

/** What to verify. */
export interface VerifyRequest {
  /** The deposit address in question. */
  readonly address: string;
  /** The commitment it is said to have. */
  readonly commitment: ClaimedCommitment;
  /** The factory that the caller trusts. */
  readonly factory: string;
  /** What the caller wanted. Fields must be equal; the two caps may be lower. Absent fields are not compared. */
  readonly expected?: Partial<CommitmentFields>;
}

/** How a verification fails. */
export type Mismatch = Extract<Verification, { kind: "mismatch" }>;

/** Verifies a deposit address offline. Malformed input throws `AddressInputError` and names the field. */
export function verifyDepositAddress(request: VerifyRequest): Verification {
  const { commitment, factory } = request;
  const address = formatAddress(parseAddress("address", request.address));
  const hash = hashCommitment(commitment);
  const wallet = predictWallet({ factory, commitment });
  return (
    findFormatMismatch(commitment) ??
    findContractMismatch(commitment, factory) ??
    findFieldMismatch(commitment, request.expected ?? {}) ??
    findHashMismatch(commitment, hash) ??
    compare("address", wallet, address) ?? { kind: "ok", address, commitment: hash }
  );
}

/** The format is the one this code knows. */
export function findFormatMismatch(claimed: ClaimedCommitment): Mismatch | undefined {
  return (
    compare("domain", COMMITMENT_DOMAIN, claimed.domain) ??
    compare("version", COMMITMENT_VERSION, claimed.version) ??
    compare("walletKind", WALLET_KIND, claimed.walletKind)
  );
}

/** The named contracts are the trusted factory and its implementation. */
function findContractMismatch(claimed: ClaimedCommitment, factory: string): Mismatch | undefined {
  const trusted = formatAddress(parseAddress("factory", factory));
  return (
    compare("factory", trusted, toAddress("commitment.factory", claimed.factory)) ??
    compare(
      "implementation",
      implementationOf(trusted),
      toAddress("commitment.implementation", claimed.implementation),
    )
  );
}

/** The fields are what the caller wanted, whichever way each is spelled. */
export function findFieldMismatch(
  claimed: CommitmentFields,
  expected: Partial<CommitmentFields>,
): Mismatch | undefined {
  for (const field of COMMITMENT_FIELDS) {
    const wanted = expected[field];
    if (wanted === undefined) continue;
    const wantedWord = encodeField({ ...claimed, ...expected }, field);
    const word = encodeField(claimed, field);
    const isCap = field === "maxFeeBps" || field === "maxSlippageBps";
    // Words are big-endian and equally long, so their hex sorts like the numbers.
    const fits = isCap ? toHex(word) <= toHex(wantedWord) : toHex(word) === toHex(wantedWord);
    if (!fits) {
      const text = isCap ? `at most ${wanted}` : String(wanted);
      return { kind: "mismatch", field, expected: text, actual: String(claimed[field]) };
    }
  }
  return undefined;
}

/** The claimed hash is the hash of the fields. */
export function findHashMismatch(claimed: ClaimedCommitment, hash: Hex): Mismatch | undefined {
  if (claimed.commitment === undefined) return undefined;
  const bytes = parseBytes("commitment.commitment", claimed.commitment, 32);
  return compare("commitment", hash, toHex(bytes));
}

/** An absent claim agrees with everything. */
export function compare(
  field: VerifiedField,
  expected: string | number,
  actual: string | number | undefined,
): Mismatch | undefined {
  if (actual === undefined || actual === expected) return undefined;
  return { kind: "mismatch", field, expected: String(expected), actual: String(actual) };
}

function toAddress(field: string, text: string | undefined): Hex | undefined {
  return text === undefined ? undefined : formatAddress(parseAddress(field, text));
}
