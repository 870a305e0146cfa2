/**
 * Verifies a deposit address before money is sent to it. Nothing in the quote is trusted: the address is computed from
 * the fields, and the fields are compared with the caller's own values.
 *
 * Assumes: `factory` comes from the caller's own configuration, not from the quote. A wallet obeys its factory, so a
 * forged factory could send the deposit anywhere.
 */
import {
  COMMITMENT_DOMAIN,
  COMMITMENT_FIELDS,
  COMMITMENT_VERSION,
  type CommitmentField,
  type CommitmentFields,
  encodeField,
  hashCommitment,
  NO_ROUTE_SET,
  UNATTENDED,
  WALLET_KIND,
} from "./commitment.ts";
import { implementationOf, predictWallet } from "./create2.ts";
import { formatAddress, parseAddress } from "./eip55.ts";
import { type Hex, parseBytes, toHex } from "./encoding.ts";
import { rootOfRoutes, type RouteLeaf } from "./route-set.ts";

/** A commitment as the quote states it: the fields, and claims about them that are checked if present. */
export interface ClaimedCommitment extends CommitmentFields {
  readonly domain?: string;
  readonly version?: number;
  readonly walletKind?: number;
  readonly factory?: string;
  readonly implementation?: string;
  /** The claimed hash, 32 bytes. */
  readonly commitment?: string;
  /** The claimed set of routes, whose root must be `routes`. */
  readonly routeSet?: readonly RouteLeaf[];
}

/** A field or claim that can differ. */
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

/** Result of a verification. Only an address with `ok` may be paid. */
export type Verification =
  | { readonly kind: "ok"; readonly address: Hex; readonly commitment: Hex }
  | {
      readonly kind: "mismatch";
      /** The first field that differs. */
      readonly field: VerifiedField;
      readonly expected: string;
      readonly actual: string;
    };

/** Input of `verifyDepositAddress`. */
export interface VerifyRequest {
  /** The deposit address to verify. */
  readonly address: string;
  /** The commitment that the quote states for it. */
  readonly commitment: ClaimedCommitment;
  /** The factory that the caller trusts. */
  readonly factory: string;
  /** The caller's own values. Fields must be equal; the two caps may be lower. Absent fields are not compared. */
  readonly expected?: Partial<CommitmentFields>;
}

/** Result of a verification that failed. */
export type Mismatch = Extract<Verification, { kind: "mismatch" }>;

/** Verifies a deposit address offline. Malformed input throws `AddressInputError`, which names the field. */
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

/** Compares the claimed format with the one implemented here. */
export function findFormatMismatch(claimed: ClaimedCommitment): Mismatch | undefined {
  return (
    compare("domain", COMMITMENT_DOMAIN, claimed.domain) ??
    compare("version", COMMITMENT_VERSION, claimed.version) ??
    compare("walletKind", WALLET_KIND, claimed.walletKind) ??
    findRouteSetMismatch(claimed)
  );
}

/** Compares the set of routes with its root, and the flags with those that have a meaning. */
function findRouteSetMismatch({ routes, routeSet, flags }: ClaimedCommitment) {
  // With an unknown flag the contracts settle nothing, so such an address must not be paid.
  if (flags !== undefined && flags !== 0) {
    const mismatch = compare("flags", UNATTENDED, flags);
    if (mismatch) return mismatch;
  }
  if (routeSet === undefined) return undefined;
  const root = toHex(parseBytes("routes", routes ?? NO_ROUTE_SET, 32));
  return compare("routes", rootOfRoutes(routeSet), root);
}

/** Compares the claimed contracts with the trusted factory and its implementation. */
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

/** Compares the claimed fields with the caller's values. Different encodings of one value are equal. */
export function findFieldMismatch(
  claimed: CommitmentFields,
  expected: Partial<CommitmentFields>,
): Mismatch | undefined {
  for (const field of COMMITMENT_FIELDS) {
    const value = expected[field];
    if (value === undefined) continue;
    const expectedWord = encodeField({ ...claimed, ...expected }, field);
    const word = encodeField(claimed, field);
    const isCap = field === "maxFeeBps" || field === "maxSlippageBps";
    // Words are big-endian and of equal length, so their hex strings order like the numbers.
    const isMatch = isCap
      ? toHex(word) <= toHex(expectedWord)
      : toHex(word) === toHex(expectedWord);
    if (!isMatch) {
      const text = isCap ? `at most ${value}` : String(value);
      return { kind: "mismatch", field, expected: text, actual: String(claimed[field]) };
    }
  }
  return undefined;
}

/** Compares the claimed hash with the hash of the fields. */
export function findHashMismatch(claimed: ClaimedCommitment, hash: Hex): Mismatch | undefined {
  if (claimed.commitment === undefined) return undefined;
  const bytes = parseBytes("commitment.commitment", claimed.commitment, 32);
  return compare("commitment", hash, toHex(bytes));
}

/** Returns the mismatch of one claim. An absent claim matches. */
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
