/** Derived addresses: locks, markers of deliveries, and token accounts. */
import { createHash } from "node:crypto";
import { SYSTEM_PROGRAM_ADDRESS } from "@solana-program/system";
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { TOKEN_2022_PROGRAM_ADDRESS } from "@solana-program/token-2022";
import { type Address, type Hex32, NATIVE_SOL, toAddress } from "../../core/hex.ts";
import { type Base58, bytesOf, fromBase58, hexOf, toBase58 } from "./base58.ts";

/** The two token programs. */
export type TokenProgram = "token" | "token-2022";

/** Address of each token program. */
export const TOKEN_PROGRAMS: Readonly<Record<TokenProgram, Base58>> = {
  token: TOKEN_PROGRAM_ADDRESS,
  "token-2022": TOKEN_2022_PROGRAM_ADDRESS,
};

/** The wrapped SOL mint. Locked SOL is held in it; it is a token apart from SOL otherwise. */
export const WRAPPED_SOL: Address = fromBase58("So11111111111111111111111111111111111111112");

/** Returns a token's mint; wrapped SOL for SOL, which has none. */
export function mintOf(token: Address): Address {
  return token === NATIVE_SOL ? WRAPPED_SOL : token;
}

/** Bytes of a delivery id whose base64url fits the 32 characters of a seed. */
const SEED_BYTES = 24;

/** Returns the seed of a delivery id's lock and marker: its first 24 bytes in base64url. */
export function seedOf(deliveryId: Hex32): string {
  return Buffer.from(bytesOf(deliveryId).subarray(0, SEED_BYTES)).toString("base64url");
}

/** Derives the token account of a lock. */
export function lockAddressOf(escrow: Address, deliveryId: Hex32, program: TokenProgram): Address {
  return withSeed(escrow, deliveryId, TOKEN_PROGRAMS[program]);
}

/** Derives the marker account, which proves that a delivery id was paid. */
export function markerAddressOf(delivery: Address, deliveryId: Hex32): Address {
  return withSeed(delivery, deliveryId, SYSTEM_PROGRAM_ADDRESS);
}

function withSeed(base: Address, deliveryId: Hex32, owner: Base58): Address {
  const digest = createHash("sha256")
    .update(bytesOf(base))
    .update(seedOf(deliveryId))
    .update(bytesOf(fromBase58(owner)))
    .digest();
  return toAddress(hexOf(digest));
}

/** Derives an owner's associated token account. */
export async function associatedAccountOf(
  owner: Address,
  mint: Address,
  program: TokenProgram,
): Promise<Address> {
  const [account] = await findAssociatedTokenPda({
    owner: toBase58(owner),
    mint: toBase58(mint),
    tokenProgram: TOKEN_PROGRAMS[program],
  });
  return fromBase58(account);
}
