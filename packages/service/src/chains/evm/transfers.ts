/** Reads the logs of one block, and token transfers in them. */
import { toEventSelector } from "viem";
import { type Hex32, unpadAddress } from "../../core/hex.ts";
import type { BlockId, Transfer } from "../port/index.ts";
import { type LogAnswer, type LogMark, parseBlockReceipts, parseLogs } from "./answers.ts";
import { classifyLimit } from "./limits.ts";
import type { Rpc } from "./rpc.ts";

/** `Transfer` of ERC-20. */
export const TRANSFER = toEventSelector("Transfer(address,address,uint256)");

/**
 * Lists all logs of a block; from its receipts, where the node refuses a search without an address. Throws RPC_UNAVAILABLE if
 * they are of another block.
 */
export async function listAllLogs(rpc: Rpc, block: BlockId): Promise<readonly LogMark[]> {
  const answer = await rpc.call("eth_getLogs", [{ blockHash: block.hash }]);
  if (answer.ok) return checkLogs(rpc, block, rpc.read("eth_getLogs", answer.result, parseLogs));
  if (classifyLimit(answer) !== null) throw rpc.refusal("eth_getLogs", answer);
  const receipts = await rpc.ask("eth_getBlockReceipts", [block.hash], parseBlockReceipts);
  if (receipts.some(({ blockHash }) => blockHash !== block.hash)) {
    throw rpc.unavailable("receipts of another block");
  }
  return receipts.flatMap(({ logs }) => logs);
}

/** Returns logs in order. Throws RPC_UNAVAILABLE unless all are of this block, and none is there twice. */
export function checkLogs(rpc: Rpc, block: BlockId, answer: readonly LogAnswer[]): LogAnswer[] {
  const logs = answer
    .filter((log) => !log.removed)
    .sort((one, other) => one.logIndex - other.logIndex);
  const isOfBlock = (log: LogAnswer) =>
    log.blockHash === block.hash && log.blockNumber === block.number;
  if (!logs.every(isOfBlock)) throw rpc.unavailable("logs of another block");
  if (new Set(logs.map((log) => log.logIndex)).size !== logs.length) {
    throw rpc.unavailable("duplicate logs");
  }
  return logs;
}

/**
 * Returns the transfers that the tokens' logs of one block state, in order, without zero-value transfers and logs of another
 * form. The ordinal counts all logs of the token in the transaction.
 */
export function toTransfers(logs: readonly LogAnswer[]): Transfer[] {
  const seen = new Map<string, number>();
  return logs.flatMap((log) => {
    const key = `${log.txHash}:${log.address}`;
    const ordinal = seen.get(key) ?? 0;
    seen.set(key, ordinal + 1);
    const transfer = readTransfer(log, ordinal);
    return transfer && transfer.amount > 0n ? [transfer] : [];
  });
}

function readTransfer(log: LogAnswer, ordinal: number): Transfer | null {
  const [, from, to, more] = log.topics;
  if (!from || !to || more || !isAddressWord(from) || !isAddressWord(to)) return null;
  if (log.data.length !== 66) return null;
  const { address: token, txHash, logIndex } = log;
  return {
    token,
    from: unpadAddress(from),
    to: unpadAddress(to),
    amount: BigInt(log.data),
    txHash,
    logIndex,
    ordinal,
  };
}

function isAddressWord(word: Hex32): boolean {
  return word.startsWith(`0x${"0".repeat(24)}`);
}
