/** Who can be paid on Solana: an account that a key stands behind, and no program. */
import { toBase58 } from "./base58.ts";
import { isPublicKey } from "./ed25519.ts";
import { type Address, isNative } from "./hex.ts";

/** Programs that are named by keys of their own. */
const PROGRAMS: ReadonlySet<string> = new Set([
  "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", // SPL Token
  "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb", // Token-2022
  "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL", // Associated Token Account
  "Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo", // Memo v1
  "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr", // Memo v3
  "metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s", // Token Metadata
]);

/** Mints that stand for SOL itself, whether they are listed or not. */
const NATIVE_MINTS: ReadonlySet<string> = new Set([
  "So11111111111111111111111111111111111111112",
  "9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXej9",
]);

/** Built-in programs and sysvars are words filled up with ones; no key's address ends like this by chance. */
const BUILT_IN = /1{7}$/;

/** What was expected instead of an address that is no wallet, in the words of a refusal; undefined of one that may be. */
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
