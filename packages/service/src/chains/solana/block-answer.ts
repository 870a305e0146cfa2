/** The parser of a block with its balances: megabytes, of which little matters. */
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import {
  Balances,
  type BlockHeadAnswer,
  BlockHead,
  type Changes,
  expectForm,
  KEY,
  keyAt,
  readChanges,
  readHead,
  SIGNATURE,
  type SolChange,
  type TokenChange,
  Whole,
} from "./answers.ts";
import { MEMO_PROGRAM } from "./memos.ts";

/** A balance of a block, whose texts are checked only where they matter: a block has tens of thousands. */
const BlockTokenBalance = Type.Object({
  accountIndex: Whole,
  mint: Type.String(),
  owner: Type.String(),
  uiTokenAmount: Type.Object({ amount: Type.String() }),
});
const Block = Type.Object({
  ...BlockHead.properties,
  transactions: Type.Array(
    Type.Object({
      transaction: Type.Object({
        signatures: Type.Array(Type.String(), { minItems: 1 }),
        accountKeys: Type.Array(Type.Object({ pubkey: Type.String(), signer: Type.Boolean() }), {
          minItems: 1,
        }),
      }),
      meta: Type.Object({
        ...Balances.properties,
        preTokenBalances: Type.Array(BlockTokenBalance),
        postTokenBalances: Type.Array(BlockTokenBalance),
      }),
    }),
  ),
});
/** A transaction of a block, in the form of `getBlock`. */
export type BlockEntry = Static<typeof Block>["transactions"][number];

const BLOCK = Compile(Block);

/** A successful transaction of a block that pays an account or has a memo. */
export interface BlockTransaction extends Changes {
  /** Position in the block. */
  readonly index: number;
  readonly signature: string;
  readonly feePayer: string;
  readonly signers: readonly string[];
  /** Whether it lists the memo program among its accounts. */
  readonly hasMemo: boolean;
}

/** A block with the transactions that can matter. Votes only pay fees, and are left out. */
export interface BlockAnswer extends BlockHeadAnswer {
  /** Number of all transactions. */
  readonly count: number;
  readonly transactions: readonly BlockTransaction[];
}

/** Parses a block with the balance changes of its transactions. */
export function parseBlock(slot: bigint, value: unknown): BlockAnswer {
  const block = expectForm(BLOCK, "a block", value);
  const transactions = block.transactions.flatMap((entry, index) => readEntry(entry, index) ?? []);
  return composeBlock(readHead(slot, block), block.transactions.length, transactions);
}

/** Composes a block of its place, the number of all transactions, and those that can matter. */
export function composeBlock(
  head: BlockHeadAnswer,
  count: number,
  transactions: readonly BlockTransaction[],
): BlockAnswer {
  return { ...head, count, transactions };
}

/** Reads a transaction of a block; null if it failed, or neither pays an account nor has a memo. */
export function readEntry(
  { transaction, meta }: BlockEntry,
  index: number,
): BlockTransaction | null {
  if (meta.err !== null) return null;
  const hasMemo = transaction.accountKeys.some(({ pubkey }) => pubkey === MEMO_PROGRAM);
  // Most transactions are votes: this is decided without a copy of their accounts.
  const isWhole = meta.postBalances.length === transaction.accountKeys.length;
  if (isWhole && !hasMemo && !mayPay(meta)) return null;
  const keys = transaction.accountKeys.map(({ pubkey }) => pubkey);
  const { sol, tokens } = readChanges(keys, meta);
  const isGain = ({ change }: SolChange | TokenChange) => change === null || change > 0n;
  if (!hasMemo && !sol.some(isGain) && !tokens.some(isGain)) return null;
  const [signature = ""] = transaction.signatures;
  const signers = transaction.accountKeys.filter(({ signer }) => signer);
  const read = {
    index,
    signature,
    feePayer: keyAt(keys, 0),
    signers: signers.map(({ pubkey }) => pubkey),
    hasMemo,
    sol,
    tokens,
  };
  const named = [
    read.feePayer,
    ...read.signers,
    ...sol.map(({ account }) => account),
    ...tokens.flatMap(({ owner, mint }) => [owner, mint]),
  ];
  const isValid = SIGNATURE_FORM.test(signature) && named.every((key) => KEY_FORM.test(key));
  if (!isValid) throw new TypeError("expected accounts and a signature");
  return read;
}

/** Reports whether an account may have more than before. */
export function mayPay({
  preBalances,
  postBalances,
  postTokenBalances,
}: BlockEntry["meta"]): boolean {
  if (postTokenBalances.length > 0 || preBalances.length !== postBalances.length) return true;
  return postBalances.some((after, index) => {
    const before = preBalances[index] ?? 0;
    return after > before || (after !== before && !Number.isSafeInteger(before));
  });
}

const KEY_FORM = new RegExp(KEY);
const SIGNATURE_FORM = new RegExp(SIGNATURE);
