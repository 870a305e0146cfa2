/**
 * Native coin at deposit addresses. It leaves no logs: transfers by a block's own transactions are in the full block, and
 * transfers by contracts show only in the balance.
 */
import { concat, type Hex } from "viem";
import { type EvmAddress, NATIVE_TOKEN } from "../../core/hex.ts";
import type { BlockId, BlockRef, Transfer } from "../port/index.ts";
import { type BlockAnswer, type PaymentAnswer, parseBalances, parseOutcome } from "./answers.ts";
import { blockParameterOf } from "./calls.ts";
import type { Rpc } from "./rpc.ts";
import { getLogs } from "./transfers.ts";

/** Receipts per request batch. */
const RECEIPTS_AT_ONCE = 20;
/** The result is deployed like contract code, which may have 24,576 bytes: 768 words. */
const BALANCES_AT_ONCE = 500;

/**
 * Returns what payments in a block's own transactions pay, in order. A failed transaction pays nothing, although it shows a
 * value. Throws RPC_UNAVAILABLE if the node lacks the block or a receipt.
 */
export async function listPaid(
  rpc: Rpc,
  block: BlockId & Pick<BlockAnswer, "hasLogs">,
  payments: readonly PaymentAnswer[],
): Promise<Transfer[]> {
  if (payments.length === 0) return [];
  // Positions among the block's logs order each payment before or after a sweep.
  const logs = block.hasLogs ? await getLogs(rpc, block, {}) : [];
  if (block.hasLogs && logs.length === 0) throw rpc.unavailable("logs missing");
  const succeeded = await listSucceeded(rpc, block, payments);
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
 * Creation code that reads the native balance of each appended 20-byte address and returns one word per address: many
 * balances in one `eth_call` without a deployed contract.
 */
const BALANCE_READER: Hex = concat([
  "0x60276000", // start at the first appended byte, with empty memory
  "0x5b388210600e57", // while bytes are left
  "0x6000f3", // return the words
  "0x5b60148282600c0139", // load the next address as one word
  "0x8051318152", // replace it with its balance
  "0x60200190601401906004", // advance both offsets
  "0x56",
]);

/**
 * Returns the wei of each account at exactly this block, in order. Throws RPC_UNAVAILABLE if the node lacks the block's
 * state.
 */
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
