/** Random tokens that open something: of pay links, invitations and sessions. */
import { createHash } from "node:crypto";
import type { Random } from "./ports.ts";

const BYTES = 24;

/** Returns 32 characters of base64url with 192 bits, from two random ids, which have 244. */
export function createRandomToken(random: Random): string {
  const hash = createHash("sha256").update(`${random.uuid()}${random.uuid()}`).digest();
  return hash.subarray(0, BYTES).toString("base64url");
}
