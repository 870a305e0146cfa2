/** Parsers of accounts. Each throws `TypeError` on any other form. */
import { AccountState, getTokenDecoder as getTokenAccountDecoder } from "@solana-program/token";
import { unwrapOption } from "@solana/kit";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Address } from "../../core/hex.ts";
import { expectForm, InContext, Key, Lamports } from "./answers.ts";
import { fromBase58, toBase58 } from "./base58.ts";

const Account = Type.Union([
  Type.Null(),
  Type.Object({
    data: Type.Tuple([Type.String(), Type.Literal("base64")]),
    lamports: Lamports,
    owner: Key,
  }),
]);
const ACCOUNTS = Compile(InContext(Type.Array(Account)));
const TOKEN_ACCOUNTS = Compile(
  InContext(Type.Array(Type.Object({ pubkey: Key, account: Account }))),
);
const TOKEN_ACCOUNT_BYTES = 165;

/** An existing account. */
export interface AccountAnswer {
  /** In base58. */
  readonly owner: string;
  readonly data: Uint8Array;
  readonly lamports: bigint;
}

/** A token account. */
export interface TokenAccountAnswer {
  readonly account: Address;
  readonly amount: bigint;
  /** Whether another account may move its tokens or close it. */
  readonly isShared: boolean;
}

/** Parses accounts, in the order of the request, and the slot of their state. */
export function parseAccounts(value: unknown): {
  readonly slot: bigint;
  readonly accounts: readonly (AccountAnswer | null)[];
} {
  const { context, value: accounts } = expectForm(ACCOUNTS, "accounts", value);
  return { slot: BigInt(context.slot), accounts: accounts.map(readAccount) };
}

function readAccount(account: Static<typeof Account>): AccountAnswer | null {
  if (account === null) return null;
  const { owner, lamports, data } = account;
  if (!Number.isSafeInteger(lamports)) throw new TypeError("expected lamports");
  return { owner, lamports: BigInt(lamports), data: Buffer.from(data[0], "base64") };
}

/** Parses the open token accounts of an owner and mint, and the slot of their state. */
export function parseTokenAccounts(
  expected: { readonly owner: string; readonly mint: string },
  value: unknown,
): { readonly slot: bigint; readonly accounts: readonly TokenAccountAnswer[] } {
  const answer = expectForm(TOKEN_ACCOUNTS, "token accounts", value);
  const accounts = answer.value.flatMap(({ pubkey, account: written }) => {
    const account = readAccount(written);
    if (!account) throw new TypeError("expected an account");
    const token = getTokenAccountDecoder().decode(account.data.subarray(0, TOKEN_ACCOUNT_BYTES));
    if (token.owner !== expected.owner || token.mint !== expected.mint) {
      throw new TypeError("expected accounts of the owner and the mint");
    }
    if (token.state === AccountState.Uninitialized) return [];
    const delegate = unwrapOption(token.delegate);
    const closer = unwrapOption(token.closeAuthority);
    const isShared = delegate !== null || (closer !== null && closer !== token.owner);
    return [{ account: fromBase58(pubkey), amount: token.amount, isShared }];
  });
  return { slot: BigInt(answer.context.slot), accounts };
}

/**
 * Returns whether an owner's associated account can be paid: it is missing, and the payout creates it, or it is the owner's
 * and not frozen.
 */
export function canReceive(account: AccountAnswer | null, owner: Address): boolean {
  if (account === null || account.data.length < TOKEN_ACCOUNT_BYTES) return true;
  const token = getTokenAccountDecoder().decode(account.data.subarray(0, TOKEN_ACCOUNT_BYTES));
  if (token.state === AccountState.Uninitialized) return true;
  return token.owner === toBase58(owner) && token.state !== AccountState.Frozen;
}
