/** Validation of ed25519 public keys, to tell Solana wallets from accounts without a key. */
import { ed25519 } from "@noble/curves/ed25519";
import type { Address } from "./hex.ts";

/**
 * Reports whether 32 bytes can be a wallet's public key: a canonically encoded point in the prime-order group. Program
 * derived addresses are never on the curve; about one in sixteen mistyped addresses passes.
 */
export function isPublicKey(address: Address): boolean {
  try {
    const point = ed25519.ExtendedPoint.fromHex(address.slice(2));
    return !point.isSmallOrder() && point.isTorsionFree();
  } catch {
    // Not on the curve. The library has no other check.
    return false;
  }
}
