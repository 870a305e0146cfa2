/** The parser of a block keeps payments and transactions with a memo. */
import { expect, test } from "vitest";
import { createBlockText } from "../../../test/recorded/solana-load.ts";
import { parseBlock } from "./block-answer.ts";
import { toBase58 } from "./base58.ts";
import { MEMO_PROGRAM } from "./memos.ts";

const KEYS = ["a1", "a2", "a3"].map((byte): string => toBase58(`0x${byte.repeat(32)}`));
const [PAYER = "", PAYEE = "", MINT = ""] = KEYS;

interface Changes {
  readonly pre?: readonly number[];
  readonly post?: readonly number[];
  readonly err?: unknown;
  readonly keys?: readonly string[];
  readonly tokens?: readonly string[];
}

/** Parses a block of one transaction, in which by default the payer pays a fee. */
function parse({ pre = [9, 5], post = [8, 5], err = null, keys = KEYS, tokens = [] }: Changes) {
  const balance = (amount: string) => ({
    accountIndex: 1,
    mint: MINT,
    owner: PAYEE,
    uiTokenAmount: { amount },
  });
  return parseBlock(2n, {
    blockhash: PAYER,
    previousBlockhash: PAYEE,
    parentSlot: 1,
    blockHeight: 1,
    blockTime: null,
    transactions: [
      {
        transaction: {
          signatures: ["5".repeat(88)],
          accountKeys: keys.slice(0, 2).map((pubkey, at) => ({ pubkey, signer: at === 0 })),
        },
        meta: {
          err,
          preBalances: pre,
          postBalances: post,
          preTokenBalances: [],
          postTokenBalances: tokens.map(balance),
        },
      },
    ],
  });
}

test("a transaction that only pays a fee is counted and left out", () => {
  expect(parse({})).toMatchObject({ count: 1, transactions: [] });
});

test.each<[string, Changes]>([
  ["pays SOL", { post: [7, 6] }],
  ["pays an amount that is not exact", { pre: [9, 2 ** 60], post: [8, 2 ** 59] }],
  ["pays a token", { tokens: ["1"] }],
  ["has a memo", { keys: [PAYER, MEMO_PROGRAM] }],
])("a transaction that %s is kept", (_, changes) => {
  expect(parse(changes).transactions).toMatchObject([{ index: 0, feePayer: PAYER }]);
});

test("a failed transaction is left out, whatever it shows", () => {
  expect(parse({ post: [7, 6], err: "AccountInUse", tokens: ["1"] }).transactions).toEqual([]);
});

test.each<[string, Changes]>([
  ["fewer balances than accounts", { pre: [9], post: [8] }],
  ["more balances after than before", { pre: [9], post: [8, 5] }],
  ["an account that is not base58", { keys: [PAYER, "0".repeat(32)], post: [7, 6] }],
  ["an amount that is not a number", { tokens: ["0x1"] }],
])("a block is refused that has %s", (_, changes) => {
  expect(() => parse(changes)).toThrow(TypeError);
});

test("a block of the usual size keeps a fifth of its transactions", () => {
  const head = parse({});
  const block = parseBlock(2n, {
    blockhash: PAYER,
    previousBlockhash: PAYEE,
    parentSlot: 1,
    blockHeight: 1,
    blockTime: null,
    transactions: JSON.parse(createBlockText(1)),
  });
  expect(head.hash).toBe(block.hash);
  expect([block.count, block.transactions.length]).toEqual([1320, 270]);
});
