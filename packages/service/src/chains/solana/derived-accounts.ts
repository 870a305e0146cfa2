/** Addresses that follow from others: of locks, of markers of deliveries, and of token accounts. */
import { createHash } from "node:crypto";
import { SYSTEM_PROGRAM_ADDRESS } from "@solana-program/system";
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { TOKEN_2022_PROGRAM_ADDRESS } from "@solana-program/token-2022";
import { type Address, type Hex32, NATIVE_SOL, toAddress } from "../../core/hex.ts";
import { type Base58, bytesOf, fromBase58, hexOf, toBase58 } from "./base58.ts";

/** The two token programs. */
export type TokenProgram = "token" | "token-2022";

/** Address of a token program. */
export const TOKEN_PROGRAMS: Readonly<Record<TokenProgram, Base58>> = {
  token: TOKEN_PROGRAM_ADDRESS,
  "token-2022": TOKEN_2022_PROGRAM_ADDRESS,
};

/** Wrapped SOL, a token with a balance of its own; SOL lies in it while it is locked. */
export const WRAPPED_SOL: Address = fromBase58("So11111111111111111111111111111111111111112");

/** The mint that stands for a token where only token accounts will do. */
export function mintOf(token: Address): Address {
  return token === NATIVE_SOL ? WRAPPED_SOL : token;
}

/** Bytes of a delivery id that fit the 32 characters of a seed. */
const SEED_BYTES = 24;

/** The seed of an id's lock and marker: 24 bytes of it, in base64url. */
export function seedOf(deliveryId: Hex32): string {
  return Buffer.from(bytesOf(deliveryId).subarray(0, SEED_BYTES)).toString("base64url");
}

/** The token account of a lock. */
export function lockAddressOf(escrow: Address, deliveryId: Hex32, program: TokenProgram): Address {
  return withSeed(escrow, deliveryId, TOKEN_PROGRAMS[program]);
}

/** The account that says that an id was delivered. */
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

/** The associated token account of an owner. */
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
