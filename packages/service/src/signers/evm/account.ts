/** Private keys, between a `Secret` and the library that signs with them. */
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { OperatingError } from "../../core/errors.ts";
import type { Secret } from "../../core/secret.ts";

/** The account of a key. Throws CONFIG_MISSING that names the expected form and never the value. */
export function accountOf(key: Secret, whose: string): PrivateKeyAccount {
  const text = key.reveal();
  if (!isPrivateKey(text)) throw malformed(whose);
  try {
    return privateKeyToAccount(text);
  } catch {
    // Zero, or above the curve's order. The library's error is dropped: it may quote the key.
    throw malformed(whose);
  }
}

function isPrivateKey(text: string): text is `0x${string}` {
  return /^0x[0-9a-fA-F]{64}$/.test(text);
}

function malformed(whose: string): OperatingError {
  return new OperatingError(
    "CONFIG_MISSING",
    `The private key of ${whose} is malformed: expected 0x and 64 hex digits of a key in range.`,
  );
}
