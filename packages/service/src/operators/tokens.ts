/** Tokens of invitations and sessions. Only a keyed hash is stored, so that a copy of the database signs nobody in. */
import { createHmac } from "node:crypto";
import type { Secret } from "../core/secret.ts";

const TOKEN = /^[\w-]{32}$/;

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
