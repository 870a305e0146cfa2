/** Accounts that follow from others, derived by the signer itself: what it checks was built elsewhere. */
import { createHash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519";
import { type Address, type Hex32, toAddress } from "../../core/hex.ts";
import { ASSOCIATED_TOKEN_PROGRAM } from "./programs.ts";

/** The seed of the accounts of a delivery id: its first 24 bytes in base64url. */
export function seedOf(deliveryId: Hex32): string {
  return bytesOf(deliveryId).subarray(0, 24).toString("base64url");
}

/** The account of a base and a seed that a program owns (`Pubkey::create_with_seed`). */
export function withSeed(base: Address, seed: string, owner: Address): Address {
  return sha256(bytesOf(base), Buffer.from(seed, "utf8"), bytesOf(owner));
}

/** The associated token account of an owner: the first of its candidates that is no public key. */
export function associatedAccountOf(owner: Address, mint: Address, tokenProgram: Address): Address {
  const seeds = [owner, tokenProgram, mint].map(bytesOf);
  const suffix = [bytesOf(ASSOCIATED_TOKEN_PROGRAM), Buffer.from("ProgramDerivedAddress")];
  for (let bump = 255; bump >= 0; bump -= 1) {
    const candidate = sha256(...seeds, Uint8Array.of(bump), ...suffix);
    if (!isOnCurve(candidate)) return candidate;
  }
  throw new RangeError("no associated account");
}

/** Whether an address can be a public key: a point of the curve in its one spelling (RFC 8032). */
export function isOnCurve(account: Address): boolean {
  try {
    ed25519.ExtendedPoint.fromHex(account.slice(2));
    return true;
  } catch {
    // No point of the curve has these bytes.
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
