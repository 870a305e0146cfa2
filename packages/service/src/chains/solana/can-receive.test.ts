/** Recipients of tokens that cannot be paid. */
import { AccountState, getTokenEncoder } from "@solana-program/token";
import { expect, test } from "vitest";
import { toSolanaAddress } from "../../core/hex.ts";
import { canReceive } from "./account-answers.ts";
import { toBase58 } from "./base58.ts";

const of = (byte: string) => toSolanaAddress(`0x${byte.repeat(32)}`);
const [OWNER, OTHER, MINT] = [of("01"), of("02"), of("03")];

function accountOf(owner: typeof OWNER, state: AccountState) {
  const data = getTokenEncoder().encode({
    mint: toBase58(MINT),
    owner: toBase58(owner),
    amount: 5n,
    delegate: null,
    state,
    isNative: null,
    delegatedAmount: 0n,
    closeAuthority: null,
  });
  return { owner: "", data: Uint8Array.from(data), lamports: 1n };
}

test.each([
  ["open", accountOf(OWNER, AccountState.Initialized), true],
  ["missing", null, true],
  ["only funded with lamports", { owner: "", data: new Uint8Array(), lamports: 1n }, true],
  ["frozen", accountOf(OWNER, AccountState.Frozen), false],
  ["given to another owner", accountOf(OTHER, AccountState.Initialized), false],
] as const)("a payout to an account that is %s: %# [T150]", (_what, account, expected) => {
  expect(canReceive(account, OWNER)).toBe(expected);
});
