/**
 * Native coin at deposit addresses. It leaves no logs: transfers by a block's own transactions are in the full block, and
 * transfers by contracts show only in the balance.
 */
import { concat, type Hex } from "viem";
import { type EvmAddress, NATIVE_TOKEN } from "../../core/hex.ts";
import type { BlockId, Transfer } from "../port/index.ts";
import { createBatchSize } from "../rpc/batch-size.ts";
import { reasonOf } from "../rpc/errors.ts";
import {
  type LogAnswer,
  parseOutcome,
  parsePackedBalances,
  parseQuantity,
  type PaymentAnswer,
} from "./answers.ts";
import { blockParameterOf } from "./calls.ts";
import { classifyLimit } from "./limits.ts";
import type { Rpc } from "./rpc.ts";

/** Receipts per request batch. */
const RECEIPTS_AT_ONCE = 20;
/**
 * Balances per request, on every node with the limits of Ethereum: creation code may have 49,152 bytes (20 per account), and
 * the code that it returns 24,576 (12 per account). They take 11 million gas.
 */
const BALANCES_AT_ONCE = 2_000;
/** Fewer are not requested: an error of a smaller request has other reasons. */
const BALANCES_AT_LEAST = 500;
/** The largest balance in 12 bytes stands for itself and every larger one. */
const BALANCE_MAX = 2n ** 96n - 1n;

/**
 * Returns the payments of a block's own transactions, in order. A failed transaction pays nothing, although it shows a
 * value. `logs` are those that the scanner wants of the block: each payment gets a place among them, before or after a sweep.
 * Throws RPC_UNAVAILABLE if the node lacks a receipt.
 */
export async function listPaid(
  rpc: Rpc,
  block: BlockId,
  {
    payments,
    logs,
  }: { readonly payments: readonly PaymentAnswer[]; readonly logs: readonly LogAnswer[] },
): Promise<Transfer[]> {
  if (payments.length === 0) return [];
  const succeeded = await listSucceeded(rpc, block, payments);
  return succeeded.map(({ to, from, value, hash, index }) => ({
    token: NATIVE_TOKEN,
    from,
    to,
    amount: value,
    txHash: hash,
    logIndex: placeAmong(logs, index),
    ordinal: 0,
  }));
}

/** Returns the least log index after the logs of earlier transactions. */
function placeAmong(logs: readonly LogAnswer[], txIndex: number): number {
  return logs.reduce(
    (place, log) => (log.txIndex < txIndex ? Math.max(place, log.logIndex + 1) : place),
    0,
  );
}

async function listSucceeded(
  rpc: Rpc,
  block: BlockId,
  payments: readonly PaymentAnswer[],
): Promise<PaymentAnswer[]> {
  const found: PaymentAnswer[] = [];
  for (let from = 0; from < payments.length; from += RECEIPTS_AT_ONCE) {
    const some = payments.slice(from, from + RECEIPTS_AT_ONCE);
    const outcomes = await Promise.all(some.map(({ hash }) => hasSucceeded(rpc, block, hash)));
    found.push(...some.filter((_, index) => outcomes[index]));
  }
  return found;
}

async function hasSucceeded(rpc: Rpc, block: BlockId, txHash: string): Promise<boolean> {
  const receipt = await rpc.ask("eth_getTransactionReceipt", [txHash], parseOutcome);
  if (receipt === null) throw rpc.unavailable("receipt not found");
  if (receipt.txHash !== txHash || receipt.blockHash !== block.hash) {
    throw rpc.unavailable("a receipt of another block");
  }
  return receipt.succeeded;
}

/**
 * Creation code that reads the native balance of each appended 20-byte address and returns 12 bytes per address: many
 * balances in one `eth_call` without a deployed contract.
 */
const BALANCE_READER: Hex = concat([
  "0x60346000", // start at the first appended byte, with empty memory
  "0x5b388210600e57", // while bytes are left
  "0x6000f3", // return the balances
  "0x5b60148282600c0139", // load the next address as one word
  "0x805131", // replace it with its balance
  "0x8060601c1515600003", // all ones if it needs more than 12 bytes
  "0x1760a01b8152", // shifted to the left end of the word
  "0x600c0190601401906004", // advance both offsets
  "0x56",
]);

/**
 * Returns a reader of the wei of each account at exactly a block, in order. It remembers how many accounts the node reads in
 * one request. Throws RPC_UNAVAILABLE if the node lacks the block's state.
 */
export function createNativeBalanceReader(
  rpc: Rpc,
): (block: BlockId, owners: readonly EvmAddress[]) => Promise<bigint[]> {
  const size = createBatchSize(BALANCES_AT_ONCE);
  return async (block, owners) => {
    const balances: bigint[] = [];
    while (balances.length < owners.length) {
      const count = Math.max(BALANCES_AT_LEAST, size.now());
      const some = owners.slice(balances.length, balances.length + count);
      const read = await readBalances(rpc, block, some).catch((error: unknown) => {
        // The next poll asks for less; to wait here again would take too long.
        if (reasonOf(error) === "timeout") size.refused(some.length);
        throw error;
      });
      if (read === "too many") {
        size.refused(some.length);
        continue;
      }
      size.accepted(some.length);
      balances.push(...read);
    }
    return balances;
  };
}

async function readBalances(
  rpc: Rpc,
  block: BlockId,
  owners: readonly EvmAddress[],
): Promise<bigint[] | "too many"> {
  const data = concat([BALANCE_READER, ...owners]);
  const at = blockParameterOf(block);
  const maySplit = owners.length > BALANCES_AT_LEAST;
  let answer;
  try {
    answer = await rpc.call("eth_call", [{ data }, at]);
  } catch (error) {
    const isOfSize = ["http 413", "answer too large"].some((reason) => reason === reasonOf(error));
    if (maySplit && isOfSize) return "too many";
    throw error;
  }
  if (!answer.ok) {
    // Limits on gas and code have many wordings; an error that states another reason is not about them.
    if (maySplit && classifyLimit(answer) === null) return "too many";
    throw rpc.refusal("eth_call", answer);
  }
  const read = rpc.read("eth_call", answer.result, parsePackedBalances);
  if (read.length !== owners.length) throw rpc.unavailable("balances missing");
  return Promise.all(
    read.map(async (balance, index) =>
      balance === BALANCE_MAX
        ? rpc.ask("eth_getBalance", [owners[index], at], parseQuantity)
        : balance,
    ),
  );
}
