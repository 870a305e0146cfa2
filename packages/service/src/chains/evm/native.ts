/**
 * The native coin at deposit addresses. It leaves no logs: what a block's own transactions pay is in the full block,
 * what contracts pay is seen only in the balance.
 */
import { concat, type Hex } from "viem";
import { type EvmAddress, NATIVE_TOKEN } from "../../core/hex.ts";
import type { BlockRef, ChoosePayees, Transfer } from "../port/index.ts";
import {
  type FullBlockAnswer,
  type PaymentAnswer,
  parseBalances,
  parseFullBlock,
  parseReceipt,
} from "./answers.ts";
import { blockParameterOf } from "./calls.ts";
import type { Rpc } from "./rpc.ts";
import { getLogs } from "./transfers.ts";

/** Receipts asked for at once. */
const RECEIPTS_AT_ONCE = 20;
/** The answer counts as code of a contract, which may have 24,576 bytes: 768 words. */
const BALANCES_AT_ONCE = 500;

/**
 * What the block's own transactions paid in the native coin to those whom `choose` picks, in order. A transaction that
 * failed paid nothing, although it shows its value. Throws RPC_UNAVAILABLE when the node lacks the block or a receipt.
 */
export async function listNativeTransfers(
  rpc: Rpc,
  block: BlockRef,
  choose: ChoosePayees,
): Promise<Transfer[]> {
  const full = await getFullBlock(rpc, block);
  const paying = full.transactions.filter(({ value }) => value > 0n);
  const chosen = await choose(paying.flatMap(({ to }) => to ?? []));
  const ours = paying.filter(({ to }) => to !== null && chosen.has(to));
  if (ours.length === 0) return [];
  // Where each transaction stands among the block's logs, so that it has a place before or after a sweep.
  const logs = full.hasLogs ? await getLogs(rpc, block, {}) : [];
  if (full.hasLogs && logs.length === 0) throw rpc.unavailable("logs missing");
  const succeeded = await listSucceeded(rpc, block, ours);
  return succeeded.flatMap(({ to, from, value, hash, index }) =>
    to === null
      ? []
      : [
          {
            token: NATIVE_TOKEN,
            from,
            to,
            amount: value,
            txHash: hash,
            logIndex: logs.filter((log) => log.txIndex < index).length,
            ordinal: 0,
          },
        ],
  );
}

async function getFullBlock(rpc: Rpc, block: BlockRef): Promise<FullBlockAnswer> {
  const full = await rpc.ask("eth_getBlockByHash", [block.hash, true], parseFullBlock);
  if (full === null) throw rpc.unavailable("block not found");
  if (full.hash !== block.hash || full.number !== block.number) {
    throw rpc.unavailable("another block");
  }
  return full;
}

async function listSucceeded(
  rpc: Rpc,
  block: BlockRef,
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

async function hasSucceeded(rpc: Rpc, block: BlockRef, txHash: string): Promise<boolean> {
  const receipt = await rpc.ask("eth_getTransactionReceipt", [txHash], parseReceipt);
  if (receipt === null) throw rpc.unavailable("receipt not found");
  if (receipt.txHash !== txHash || receipt.blockHash !== block.hash) {
    throw rpc.unavailable("a receipt of another block");
  }
  return receipt.succeeded;
}

/**
 * Creation code that reads the native balance of each 20-byte address appended to it and returns one word for each:
 * many balances in one `eth_call`, without a contract on the chain.
 */
const BALANCE_READER: Hex = concat([
  "0x60276000", // from the first appended byte, into an empty memory
  "0x5b388210600e57", // while there are bytes left
  "0x6000f3", // return what was written
  "0x5b60148282600c0139", // the next address, as one word
  "0x8051318152", // gives way to its balance
  "0x60200190601401906004", // the next of both
  "0x56",
]);

/** Wei of each account at exactly this block, in order. Throws RPC_UNAVAILABLE when the node lacks its state. */
export async function listNativeBalances(
  rpc: Rpc,
  block: BlockRef,
  owners: readonly EvmAddress[],
): Promise<bigint[]> {
  const balances: bigint[] = [];
  for (let from = 0; from < owners.length; from += BALANCES_AT_ONCE) {
    const some = owners.slice(from, from + BALANCES_AT_ONCE);
    const data = concat([BALANCE_READER, ...some]);
    const read = await rpc.ask("eth_call", [{ data }, blockParameterOf(block)], parseBalances);
    if (read.length !== some.length) throw rpc.unavailable("balances missing");
    balances.push(...read);
  }
  return balances;
}
