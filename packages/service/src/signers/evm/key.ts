/** What signs with one private key, wherever that key is. */
import { secp256k1 } from "@noble/curves/secp256k1";
import type { Signature } from "viem";
import { publicKeyToAddress } from "viem/accounts";
import { type EvmAddress, type Hex, toEvmAddress } from "../../core/hex.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Secret } from "../../core/secret.ts";

/** Signs digests of 32 bytes. Never handed out: only what builds a message itself may hold one. */
export interface EvmKey {
  readonly address: EvmAddress;
  /** A signature with its `s` in the lower half of the order (EIP-2). */
  sign(digest: Hex): Promise<Signature>;
}

/** The key of a `Secret`. Throws CONFIG_MISSING that names the expected form and never the value. */
export function createRawKey(key: Secret, whose: string): EvmKey {
  // The closure keeps the `Secret`; bytes of the key live as long as one signature.
  const bytesOf = () => Buffer.from(key.reveal().slice(2), "hex");
  if (!/^0x[0-9a-fA-F]{64}$/.test(key.reveal())) throw malformed(whose);
  // Zero, or above the curve's order.
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

/** The address of an uncompressed public key. */
export function addressOf(publicKey: Uint8Array): EvmAddress {
  return toEvmAddress(publicKeyToAddress(`0x${Buffer.from(publicKey).toString("hex")}`));
}

/** A number as 32 bytes. */
export function toWord(value: bigint): Hex {
  return `0x${value.toString(16).padStart(64, "0")}`;
}

function malformed(whose: string): OperatingError {
  return new OperatingError(
    "CONFIG_MISSING",
    `The private key of ${whose} is malformed: expected 0x and 64 hex digits of a key in range.`,
  );
}
