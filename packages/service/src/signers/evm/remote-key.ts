/** A key that a service elsewhere holds: it states its public key, and signs digests with DER signatures. */
import { createPublicKey, type PublicKeyInput } from "node:crypto";
import { secp256k1 } from "@noble/curves/secp256k1";
import type { Hex } from "../../core/hex.ts";
import { addressOf, type EvmKey, toWord } from "./key.ts";

/** What an EVM key needs of such a service. */
export interface RemoteKey {
  /** SubjectPublicKeyInfo (RFC 5480), as DER or PEM. */
  readonly publicKey: PublicKeyInput;
  /** Signs 32 bytes as they are. Returns DER, with `s` in either half of the order. */
  sign(digest: Buffer): Promise<Buffer>;
  /** Returns the error for a signature by another key or of something else. */
  mismatch(): Error;
}

/** Returns the EVM key of a service. Each signature is checked by recovering the address from it. */
export function createRemoteKey({ publicKey, sign, mismatch }: RemoteKey): EvmKey {
  const address = addressOf(readPoint(publicKey));
  return {
    address,
    async sign(digest: Hex) {
      const der = await sign(Buffer.from(digest.slice(2), "hex"));
      // There is no recovery id: normalize `s`, then try both.
      const signature = readSignature(der)?.normalizeS();
      for (const yParity of signature ? ([0, 1] as const) : []) {
        const recovered = signature?.addRecoveryBit(yParity).recoverPublicKey(digest.slice(2));
        if (signature && recovered && addressOf(recovered.toRawBytes(false)) === address) {
          return { r: toWord(signature.r), s: toWord(signature.s), yParity };
        }
      }
      throw mismatch();
    },
  };
}

/** Returns null for bytes that are no signature. */
function readSignature(der: Buffer) {
  try {
    return secp256k1.Signature.fromDER(der);
  } catch {
    return null;
  }
}

/** Returns the uncompressed point of a public key. */
function readPoint(publicKey: PublicKeyInput): Uint8Array {
  const { x, y } = createPublicKey(publicKey).export({ format: "jwk" });
  return Buffer.concat([
    Buffer.from([4]),
    Buffer.from(x ?? "", "base64url"),
    Buffer.from(y ?? "", "base64url"),
  ]);
}
