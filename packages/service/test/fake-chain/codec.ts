/** Bytes of the fake chain: JSON in hexadecimal, so that a failing seed can be read. Amounts keep their type. */
import { createHash } from "node:crypto";
import type { Commitment } from "../../src/core/commitment.ts";
import type { LockFacts, Payout } from "../../src/chains/port/index.ts";
import {
  type Address,
  type Hex,
  type Hex32,
  padAddress,
  toAddress,
  toHex32,
} from "../../src/core/hex.ts";

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
    c.routes,
    c.flags,
  );
}

/** Returns a commitment's wallet, the same on every chain as with the real factory. */
export function predictWallet(commitment: Commitment): Address {
  return toAddress(`0x${hash("wallet", hashCommitment(commitment)).slice(26)}`);
}

/** Returns the id of a lock: the hash of all facts that determine its payout; its time is none. */
export function deliveryIdOf(
  lock: LockFacts & { readonly srcChain: number; readonly escrow: Address },
): Hex32 {
  const { srcChain, escrow, delivery, commitment, token, amount, minOut, seq } = lock;
  const owed = [delivery, commitment, token, amount, minOut, seq] as const;
  return hash("delivery", srcChain, escrow, ...owed);
}

/** Returns the id of the lock that a payout by a `Delivery` contract is for. */
export function deliveryIdOfPayout(
  delivery: Address,
  { commitment, srcToken: token, lockedAmount: amount, ...order }: Payout,
): Hex32 {
  const hashed = hashCommitment(commitment);
  return deliveryIdOf({
    ...order,
    token,
    amount,
    delivery: padAddress(delivery),
    commitment: hashed,
  });
}
