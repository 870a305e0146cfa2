/** Memos count only with the right signers and matching balance changes, since anybody can write any memo. */
import { describe, expect, test } from "vitest";
import { type Address, type Hex32, NATIVE_SOL, toAddress, toHex32 } from "../../core/hex.ts";
import { toBase58 } from "./base58.ts";
import { WRAPPED_SOL } from "./derived-accounts.ts";
import { type Actors, listMemos, readEffects } from "./effects.ts";
import { buildMemo, type Memo, parseMemo } from "./memos.ts";

const address = (byte: string): Address => toAddress(`0x${byte.repeat(32)}`);
const word = (byte: string): Hex32 => toHex32(`0x${byte.repeat(32)}`);
const ACTORS: Actors = { binding: address("b1"), escrow: address("e5"), delivery: address("de") };
const [VAULT, WALLET, STRANGER, TOKEN] = [
  address("a1"),
  address("a2"),
  address("a3"),
  address("70"),
];
const ID = word("1d");

const LOCK: Memo = {
  kind: "lock",
  deliveryId: ID,
  vault: VAULT,
  commitment: word("c0"),
  token: TOKEN,
  amount: 10n,
  minOut: 9n,
  seq: 1n,
  lockedAt: 1_750_000_000n,
  delivery: word("dd"),
  asOf: 400n,
};
const CLAIM: Memo = { kind: "claim", deliveryId: ID, token: TOKEN, amount: 10n, paidAmount: 9n };
const RETURN: Memo = { kind: "return", deliveryId: ID, vault: VAULT, token: TOKEN, amount: 10n };
const DELIVER: Memo = {
  kind: "deliver",
  deliveryId: ID,
  commitment: word("c0"),
  to: WALLET,
  token: TOKEN,
  amount: 10n,
};
const TRANSFER: Memo = {
  kind: "transfer",
  vault: VAULT,
  to: WALLET,
  token: TOKEN,
  amount: 10n,
  fee: 1n,
  asOf: 400n,
};
const REFUND: Memo = {
  kind: "refund",
  vault: VAULT,
  to: WALLET,
  token: TOKEN,
  amount: 10n,
  reason: "below_minimum",
};

/** Valid memos, each with its signers and balance changes. */
const TRUE: readonly (readonly [Memo, readonly Address[], Readonly<Record<Address, bigint>>])[] = [
  [LOCK, [ACTORS.escrow, VAULT], { [VAULT]: -10n, [ACTORS.escrow]: 10n }],
  [CLAIM, [ACTORS.escrow], { [ACTORS.escrow]: -10n, [STRANGER]: 10n }],
  [RETURN, [ACTORS.escrow], { [ACTORS.escrow]: -10n, [VAULT]: 10n }],
  [DELIVER, [ACTORS.delivery], { [ACTORS.delivery]: -10n, [WALLET]: 10n }],
  [TRANSFER, [VAULT], { [VAULT]: -10n, [WALLET]: 9n, [STRANGER]: 1n }],
  [REFUND, [VAULT], { [VAULT]: -10n, [WALLET]: 10n }],
];

function textOf(memo: Memo): string {
  const { data = new Uint8Array() } = buildMemo(memo, [VAULT]);
  return Buffer.from(Uint8Array.from(data)).toString();
}

/** Returns a transaction with memos and balance changes of the token. */
function doneWith(
  memos: readonly { readonly memo: Memo; readonly signers: readonly Address[] }[],
  changes: Readonly<Record<Address, bigint>>,
) {
  return {
    memos: memos.map(({ memo, signers }) => ({ text: textOf(memo), signers })),
    sol: [],
    tokens: Object.entries(changes).map(([owner, change]) => ({
      owner: toBase58(toAddress(owner)),
      mint: toBase58(TOKEN),
      change,
    })),
  };
}

describe.each(
  TRUE.map(([memo, signers, changes]) => ({ kind: memo.kind, memo, signers, changes })),
)("a memo of a $kind", ({ memo, signers, changes }) => {
  test("decodes to the same memo", () => {
    expect(parseMemo(textOf(memo), signers)).toEqual(memo);
  });

  test("counts with its signer and its balance changes", () => {
    expect(listMemos(doneWith([{ memo, signers }], changes), ACTORS)).toEqual([memo]);
  });

  test("does not count when another signed it, or nobody", () => {
    for (const others of [[], [STRANGER], [STRANGER, ...signers]]) {
      const done = doneWith([{ memo, signers: others }], changes);
      // The stranger's own account as a vault is not a wallet of ours.
      const told = listMemos(done, ACTORS).filter(
        (one) => !("vault" in one) || one.vault === VAULT,
      );
      expect(told).toEqual([]);
      expect(readEffects({ ...done, tokens: [] }, ACTORS, 0)).toEqual([]);
    }
  });

  test("does not count without its balance changes, or with others", () => {
    expect(listMemos(doneWith([{ memo, signers }], {}), ACTORS)).toEqual([]);
    for (const owner of Object.keys(changes).filter((key) => key !== STRANGER)) {
      const other = { ...changes, [toAddress(owner)]: 0n };
      // The chain itself ensures that the delivery account paid.
      const isPayer = memo.kind === "deliver" && owner === ACTORS.delivery;
      const told = listMemos(doneWith([{ memo, signers }], other), ACTORS);
      expect(told).toEqual(isPayer ? [memo] : []);
    }
  });
});

test("two memos that claim the same balance change do not both count", () => {
  const second: Memo = { ...CLAIM, deliveryId: word("2d") };
  const signers = [ACTORS.escrow];
  const both = [
    { memo: CLAIM, signers },
    { memo: second, signers },
  ];
  expect(listMemos(doneWith(both, { [ACTORS.escrow]: -10n }), ACTORS)).toEqual([]);
  expect(listMemos(doneWith(both, { [ACTORS.escrow]: -20n }), ACTORS)).toEqual([CLAIM, second]);
  const locks = [
    { memo: LOCK, signers: [ACTORS.escrow, VAULT] },
    { memo: CLAIM, signers },
  ];
  expect(listMemos(doneWith(locks, { [VAULT]: -10n, [ACTORS.escrow]: 10n }), ACTORS)).toEqual([]);
});

test("the locked amount of SOL is the loss of the vault, not the balance of the lock account", () => {
  const memo: Memo = { ...LOCK, token: NATIVE_SOL };
  const done = {
    memos: [{ text: textOf(memo), signers: [ACTORS.escrow, VAULT] }],
    sol: [{ account: toBase58(VAULT), change: -10n }],
    tokens: [{ owner: toBase58(ACTORS.escrow), mint: toBase58(WRAPPED_SOL), change: 500n }],
  };
  expect(readEffects(done, ACTORS, 3)).toMatchObject([
    { kind: "settled", amount: 10n, upTo: 400n, logIndex: 3, route: ACTORS.escrow },
    { kind: "locked", amount: 10n },
  ]);
  // An inexact amount does not count.
  const vague = { ...done, sol: [{ account: toBase58(VAULT), change: null }] };
  expect(readEffects(vague, ACTORS, 3)).toEqual([]);
});

test("a text in any other form is not a memo of ours", () => {
  const text = textOf(REFUND);
  for (const other of [
    "",
    "hello",
    "null",
    "[]",
    "{}",
    text.slice(0, -1),
    text.replace("refund", "other"),
    text.replace('"10"', "10"),
    text.replace('"10"', '"-10"'),
    text.replace("{", '{"more":1,'),
    text.replace(toBase58(WALLET), "11111111111111111111111111111111111"),
  ]) {
    expect(parseMemo(other, [VAULT])).toBeNull();
  }
  expect(parseMemo(text, [])).toBeNull();
  expect(parseMemo(textOf(LOCK), [ACTORS.escrow])).toBeNull();
});
