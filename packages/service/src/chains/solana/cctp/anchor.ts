/** How Circle's programs, which are written with Anchor, take accounts and mark data. */
import { createHash } from "node:crypto";
import { type AccountMeta, AccountRole } from "@solana/kit";
import type { Base58 } from "../base58.ts";

/** The 8 bytes that data begins with: of an instruction (`global`), or of an account. */
export function discriminatorOf(namespace: "global" | "account", name: string): Uint8Array {
  return createHash("sha256").update(`${namespace}:${name}`).digest().subarray(0, 8);
}

/** An account as an instruction takes it. */
export const reads = (account: Base58): AccountMeta => metaOf(account, AccountRole.READONLY);
export const writes = (account: Base58): AccountMeta => metaOf(account, AccountRole.WRITABLE);
export const signs = (account: Base58): AccountMeta => metaOf(account, AccountRole.READONLY_SIGNER);
export const signsAndWrites = (account: Base58): AccountMeta =>
  metaOf(account, AccountRole.WRITABLE_SIGNER);

function metaOf(account: Base58, role: AccountRole): AccountMeta {
  return { address: account, role };
}

/** What follows the discriminator. Throws TypeError when the data begins with another. */
export function readBody(data: Uint8Array, discriminator: Uint8Array, what: string): Uint8Array {
  const begins = discriminator.every((byte, index) => data[index] === byte);
  if (!begins) throw new TypeError(`expected ${what}`);
  return data.subarray(discriminator.length);
}
