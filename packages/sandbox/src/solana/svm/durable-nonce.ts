/** Durable nonces: a transaction whose first instruction advances a nonce is valid until the nonce changes. */
import { createHash } from "node:crypto";
import { type Address, getBase58Decoder, getBase58Encoder } from "@solana/kit";
import type { StoredAccount } from "./account-history.ts";
import { SYSTEM_PROGRAM_ADDRESS } from "./programs.ts";
import type { DecodedTransaction } from "./transaction.ts";

/** Offset of the value in a nonce account, after version, state and authority. */
export const NONCE_OFFSET = 40;
const NONCE_BYTES = 32;
const ADVANCE_NONCE_INSTRUCTION = 4;

/** Returns the nonce account that a transaction advances, if its lifetime is the current value of that nonce. */
export function findNonceAccount(
  { instructions: [first], staticKeys, lifetimeToken }: DecodedTransaction,
  read: (address: Address) => StoredAccount | undefined,
): { address: Address; account: StoredAccount } | undefined {
  if (!first || staticKeys[first.programIndex] !== SYSTEM_PROGRAM_ADDRESS) return undefined;
  if (first.data.length < 4 || first.data[0] !== ADVANCE_NONCE_INSTRUCTION) return undefined;
  const address = staticKeys[first.accounts[0] ?? -1];
  const account = address === undefined ? undefined : read(address);
  if (address === undefined || account?.programAddress !== SYSTEM_PROGRAM_ADDRESS) return undefined;
  const value = account.data.slice(NONCE_OFFSET, NONCE_OFFSET + NONCE_BYTES);
  return getBase58Decoder().decode(value) === lifetimeToken ? { address, account } : undefined;
}

/** Returns the value of a nonce after it is advanced under a blockhash. */
export function durableNonceFrom(blockhash: string): Uint8Array {
  return createHash("sha256")
    .update("DURABLE_NONCE")
    .update(Uint8Array.from(getBase58Encoder().encode(blockhash)))
    .digest();
}
