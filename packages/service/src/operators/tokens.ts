/** Random tokens of invitations and sessions. Only a keyed hash is stored, so that a copy of the database signs nobody in. */
import { createHash, createHmac } from "node:crypto";
import type { Random } from "../core/ports.ts";
import type { Secret } from "../core/secret.ts";

const BYTES = 24;
const TOKEN = /^[\w-]{32}$/;

/** Returns a token from two random ids, which have 244 random bits. */
export function createToken(random: Random): string {
  const hash = createHash("sha256").update(`${random.uuid()}${random.uuid()}`).digest();
  return hash.subarray(0, BYTES).toString("base64url");
}

export function isToken(value: unknown): value is string {
  return typeof value === "string" && TOKEN.test(value);
}

/** Returns the stored hash of a token. The purpose keeps a token of one kind from being one of another. */
export function hashToken(
  pepper: Secret,
  purpose: "invitation" | "session",
  token: string,
): Buffer {
  return createHmac("sha256", pepper.reveal()).update(`operator ${purpose} ${token}`).digest();
}
