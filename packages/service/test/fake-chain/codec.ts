/** Bytes of the fake chain: JSON in hexadecimal, so that a failing seed can be read. Amounts keep their type. */
import { createHash } from "node:crypto";
import type { Commitment } from "../../src/core/commitment.ts";
import { type Address, type Hex, type Hex32, toAddress, toHex32 } from "../../src/core/hex.ts";

/** Encodes a value as bytes. */
export function encode(value: unknown): Hex {
  const text = JSON.stringify(value, (_, part: unknown) =>
    typeof part === "bigint" ? { bigint: part.toString() } : part,
  );
  return `0x${Buffer.from(text).toString("hex")}`;
}

/** Decodes the output of `encode`. The caller names the type; nothing else writes these bytes. */
export function decode<T>(bytes: Hex): T {
  const text = Buffer.from(bytes.slice(2), "hex").toString();
  const value: unknown = JSON.parse(text, (_, part: unknown) =>
    typeof part === "object" && part !== null && "bigint" in part
      ? BigInt(String(part.bigint))
      : part,
  );
  // CAST: see above.
  return value as T;
}

/** Returns a hash of the parts in their order. */
export function hash(...parts: readonly (string | number | bigint)[]): Hex32 {
  return toHex32(`0x${createHash("sha256").update(parts.join("|")).digest("hex")}`);
}

export function hashCommitment(c: Commitment): Hex32 {
  return hash(
    "commitment",
    c.integrator,
    c.userId,
    c.destChain,
    c.destWallet,
    c.destToken,
    c.refundAuthority,
    c.maxFeeBps,
    c.maxSlippageBps,
  );
}

/** Returns a commitment's wallet, the same on every chain as with the real factory. */
export function predictWallet(commitment: Commitment): Address {
  return toAddress(`0x${hash("wallet", hashCommitment(commitment)).slice(26)}`);
}

export function deliveryIdOf(lock: {
  readonly srcChain: number;
  readonly escrow: Address;
  readonly wallet: Address;
  readonly token: Address;
  readonly seq: bigint;
}): Hex32 {
  return hash("delivery", lock.srcChain, lock.escrow, lock.wallet, lock.token, lock.seq);
}
