/**
 * Blocks of Solana of the usual size, composed of recorded transactions: mostly votes, and swaps, payments and failed
 * transactions, in the form of `transactionDetails: "accounts"`. The payer and a quarter of the other accounts differ in
 * each copy.
 */
import { createHash } from "node:crypto";
import { toBase58, toSignature } from "../../src/chains/solana/base58.ts";
import { toHex32, toTxHash } from "../../src/core/hex.ts";
import { readRecordedBlock, type RecordedBlock, toAccountsDetail } from "./solana-recording.ts";

/** Copies of a recorded transaction per block. Assumes the mix: no recorded block is whole. */
const MIX = [
  { block: "100000000", copies: 850 },
  { block: "154808473", copies: 110 },
  { block: "195545750", copies: 160 },
  { block: "241043141", copies: 200 },
];

/** Returns the JSON text of the transactions of one block; another seed gives other accounts. */
export function createBlockText(seed: number): string {
  const transactions = MIX.flatMap(({ block, copies }) => {
    const [recorded] = readRecordedBlock(block).transactions;
    if (!recorded) throw new Error("expected a recorded transaction");
    return Array.from({ length: copies }, (_, copy) => vary(recorded, `${seed} ${block} ${copy}`));
  });
  return JSON.stringify(transactions);
}

function vary(recorded: RecordedBlock["transactions"][number], name: string) {
  const detail = toAccountsDetail(recorded);
  const accountKeys = detail.transaction.accountKeys.map((key, index) => {
    const isOwn = index === 0 || index % 4 === 1;
    return {
      pubkey: isOwn ? keyOf(`${name} ${index}`) : key.pubkey,
      signer: key.signer,
      source: "transaction",
      writable: index < detail.transaction.accountKeys.length / 2,
    };
  });
  const signatures = detail.transaction.signatures.map((_, index) =>
    signatureOf(`${name} ${index}`),
  );
  return { ...detail, transaction: { signatures, accountKeys } };
}

function keyOf(name: string): string {
  return toBase58(toHex32(`0x${createHash("sha256").update(name).digest("hex")}`));
}

function signatureOf(name: string): string {
  return toSignature(toTxHash(`0x${createHash("sha512").update(name).digest("hex")}`));
}
