/** Which addresses of Solana a key can stand behind. */
import { ed25519 } from "@noble/curves/ed25519";
import type { Address } from "./hex.ts";

/**
 * Whether 32 bytes can be the public key of a wallet: a point of the curve, in its one encoding, of the group in which all
 * keys lie. The address of a program's account is no point by construction; of mistyped addresses one in sixteen passes.
 */
export function isPublicKey(address: Address): boolean {
  try {
    const point = ed25519.ExtendedPoint.fromHex(address.slice(2));
    return !point.isSmallOrder() && point.isTorsionFree();
  } catch {
    // Not on the curve: the library has no way to ask.
    return false;
  }
}
