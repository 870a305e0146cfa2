/**
 * Challenges for passkeys and identity providers. A challenge carries its own expiry and a keyed hash, so that asking for one stores nothing, which
 * a stranger could repeat without end. Only one that was answered is stored, so that it counts once.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { sql } from "kysely";
import { OperatingError } from "../core/errors.ts";
import type { Clock, Random } from "../core/ports.ts";
import type { Secret } from "../core/secret.ts";
import type { Tx } from "../db/schema.ts";

/** Registration and signature cannot take each other's challenge; nor one session another's. */
export type ChallengePurpose = `register ${string}` | "sign in" | `confirm ${string}` | "identity";

export interface ChallengeDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly pepper: Secret;
}

const LIFETIME_MS = 120_000;
const EXPIRY_BYTES = 8;
const RANDOM_BYTES = 16;
const MAC_BYTES = 32;

/** Creates a challenge that is valid for two minutes. */
export function createChallenge(
  { clock, random, pepper }: ChallengeDeps,
  purpose: ChallengePurpose,
): Buffer {
  const head = Buffer.alloc(EXPIRY_BYTES + RANDOM_BYTES);
  head.writeBigUInt64BE(BigInt(clock.now() + LIFETIME_MS));
  createHash("sha256").update(random.uuid()).digest().copy(head, EXPIRY_BYTES, 0, RANDOM_BYTES);
  return Buffer.concat([head, macOf(pepper, purpose, head)]);
}

/** Returns whether a challenge, in base64url, is one of ours for the purpose and not expired. */
export function isOurChallenge(
  { clock, pepper }: Omit<ChallengeDeps, "random">,
  purpose: ChallengePurpose,
  challenge: string,
): boolean {
  const bytes = Buffer.from(challenge, "base64url");
  if (bytes.length !== EXPIRY_BYTES + RANDOM_BYTES + MAC_BYTES) return false;
  const head = bytes.subarray(0, EXPIRY_BYTES + RANDOM_BYTES);
  const mac = bytes.subarray(EXPIRY_BYTES + RANDOM_BYTES);
  return (
    timingSafeEqual(mac, macOf(pepper, purpose, head)) &&
    head.readBigUInt64BE() > BigInt(clock.now())
  );
}

/**
 * Takes a signed challenge, in the transaction that acts on it.
 * @throws OperatingError UNAUTHORIZED if it was taken before.
 */
export async function takeChallenge(tx: Tx, challenge: string): Promise<void> {
  const bytes = Buffer.from(challenge, "base64url");
  await tx
    .deleteFrom("operator_challenges")
    .where(sql<boolean>`expires_at < now() - interval '1 minute'`)
    .execute();
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("operator_challenges")
    .values({
      challenge: bytes,
      expires_at: sql<string>`now() + ${LIFETIME_MS} * interval '1 millisecond'`,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows !== 1n) {
    throw new OperatingError("UNAUTHORIZED", "This answer was used before. Try again.");
  }
}

function macOf(pepper: Secret, purpose: ChallengePurpose, head: Buffer): Buffer {
  return createHmac("sha256", pepper.reveal())
    .update(`operator challenge ${purpose} `)
    .update(head)
    .digest();
}
