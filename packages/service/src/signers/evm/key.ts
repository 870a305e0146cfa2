/** Signatures with one private key, in memory or in a KMS. */
import { secp256k1 } from "@noble/curves/secp256k1";
import type { Signature } from "viem";
import { publicKeyToAddress } from "viem/accounts";
import { type EvmAddress, type Hex, toEvmAddress } from "../../core/hex.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Secret } from "../../core/secret.ts";

/** Signs digests of 32 bytes. Held only by code that builds the messages itself, never passed on. */
export interface EvmKey {
  readonly address: EvmAddress;
  /** Returns a signature with `s` in the lower half of the curve's order (EIP-2). */
  sign(digest: Hex): Promise<Signature>;
}

/** Creates a key from a `Secret`. Throws CONFIG_MISSING, which names the expected form but never the value. */
export function createRawKey(key: Secret, whose: string): EvmKey {
  // The closure keeps the `Secret`; the key's bytes exist only during a signature.
  const bytesOf = () => Buffer.from(key.reveal().slice(2), "hex");
  if (!/^0x[0-9a-fA-F]{64}$/.test(key.reveal())) throw malformed(whose);
  // Zero, or not below the curve's order.
  if (!secp256k1.utils.isValidPrivateKey(bytesOf())) throw malformed(whose);
  const publicKey = secp256k1.getPublicKey(bytesOf(), false);
  return {
    address: addressOf(publicKey),
    async sign(digest) {
      const { r, s, recovery } = secp256k1.sign(digest.slice(2), bytesOf(), { lowS: true });
      return { r: toWord(r), s: toWord(s), yParity: recovery };
    },
  };
}

/** Returns the address of an uncompressed public key. */
export function addressOf(publicKey: Uint8Array): EvmAddress {
  return toEvmAddress(publicKeyToAddress(`0x${Buffer.from(publicKey).toString("hex")}`));
}

/** Formats a number as 32 bytes of hex. */
export function toWord(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

function malformed(whose: string): OperatingError {
  return new OperatingError(
    "CONFIG_MISSING",
    `The private key of ${whose} is malformed: expected 0x and 64 hex digits of a key in range.`,
  );
}
