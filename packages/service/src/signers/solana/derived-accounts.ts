/** Derivation of accounts, independent of the code in chains/solana that builds the messages to check. */
import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519";
import { type Address, type Hex32, toAddress } from "../../core/hex.ts";
import { ASSOCIATED_TOKEN_PROGRAM } from "./programs.ts";

/** Returns the derivation seed of a delivery id's accounts: its first 24 bytes in base64url. */
export function seedOf(deliveryId: Hex32): string {
  return bytesOf(deliveryId).subarray(0, 24).toString("base64url");
}

/** Derives an account from a base, a seed and the owning program (`Pubkey::create_with_seed`). */
export function withSeed(base: Address, seed: string, owner: Address): Address {
  return sha256(bytesOf(base), Buffer.from(seed, "utf8"), bytesOf(owner));
}

/** Accounts that were derived, the oldest first. A tenth of a millisecond each, and a service's own recur in every message. */
const derived = new Map<string, Address>();
const DERIVED_MAX = 4_096;

/** Returns an owner's associated token account. */
export function associatedAccountOf(owner: Address, mint: Address, tokenProgram: Address): Address {
  const name = `${owner} ${mint} ${tokenProgram}`;
  const known = derived.get(name);
  if (known !== undefined) return known;
  const account = deriveAssociated(owner, mint, tokenProgram);
  const [oldest] = derived.keys();
  if (derived.size >= DERIVED_MAX && oldest !== undefined) derived.delete(oldest);
  derived.set(name, account);
  return account;
}

/** Derives an associated token account: the first candidate, from bump 255 down, that is not a public key. */
function deriveAssociated(owner: Address, mint: Address, tokenProgram: Address): Address {
  const seeds = [owner, tokenProgram, mint].map(bytesOf);
  const suffix = [bytesOf(ASSOCIATED_TOKEN_PROGRAM), Buffer.from("ProgramDerivedAddress")];
  for (let bump = 255; bump >= 0; bump -= 1) {
    const candidate = sha256(...seeds, Uint8Array.of(bump), ...suffix);
    if (!isOnCurve(candidate)) return candidate;
  }
  throw new RangeError("no associated account");
}

/** Returns whether an address can be a public key: the canonical encoding of a point of the curve (RFC 8032). */
export function isOnCurve(account: Address): boolean {
  try {
    ed25519.ExtendedPoint.fromHex(account.slice(2));
    return true;
  } catch {
    // The bytes encode no point of the curve.
    return false;
  }
}

function sha256(...parts: readonly Uint8Array[]): Address {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return toAddress(`0x${hash.digest("hex")}`);
}

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex.slice(2), "hex");
}
