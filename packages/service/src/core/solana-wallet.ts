/** Validation of destination wallets on Solana: accounts with a key, no programs or mints. */
import { toBase58 } from "./base58.ts";
import { isPublicKey } from "./ed25519.ts";
import { type Address, isNative } from "./hex.ts";

/** Programs whose addresses are valid public keys. */
const PROGRAMS: ReadonlySet<string> = new Set([
  "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", // SPL Token
  "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb", // Token-2022
  "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL", // Associated Token Account
  "Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo", // Memo v1
  "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr", // Memo v3
  "metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s", // Token Metadata
]);

/** Mints of wrapped SOL, listed or not. */
const NATIVE_MINTS: ReadonlySet<string> = new Set([
  "So11111111111111111111111111111111111111112",
  "9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXej9",
]);

/** Addresses of built-in programs and sysvars are words padded with ones; no key has such an address by chance. */
const BUILT_IN = /1{7}$/;

/** Returns the expected form, for an error message, if an address cannot be a wallet; undefined if it can. */
export function findWalletFault(address: Address): string | undefined {
  if (isNative(address)) return "an address other than zero, which is the system program";
  const text = toBase58(address);
  if (PROGRAMS.has(text) || BUILT_IN.test(text)) return "a wallet, not a program";
  if (NATIVE_MINTS.has(text)) return "a wallet, not a mint";
  if (!isPublicKey(address)) {
    return "a wallet that a key stands behind (accounts of programs are not paid, nor mistyped addresses)";
  }
  return undefined;
}
