/** Reads the logs of one block, and token transfers in them. */
import { toEventSelector } from "viem";
import type { EvmAddress, Hex32 } from "../../core/hex.ts";
import type { BlockId, Transfer } from "../port/index.ts";
import type { LogAnswer } from "./answers.ts";
import type { Rpc } from "./rpc.ts";

/** `Transfer` of ERC-20. */
export const TRANSFER = toEventSelector("Transfer(address,address,uint256)");

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
  const [, fromWord, toWord, more] = log.topics;
  if (!fromWord || !toWord || more || log.data.length !== 66) return null;
  const from = addressIn(fromWord);
  const to = addressIn(toWord);
  if (!from || !to) return null;
  const { address: token, txHash, logIndex } = log;
  return {
    token,
    from,
    to,
    amount: BigInt(log.data),
    txHash,
    logIndex,
    ordinal,
  };
}

const ADDRESS_PADDING = `0x${"0".repeat(24)}`;

/** Returns the address that a word holds; null if it is none. */
function addressIn(word: Hex32): EvmAddress | null {
  if (!word.startsWith(ADDRESS_PADDING)) return null;
  // CAST: the word has lower-case digits, of which 40 are left.
  return `0x${word.slice(ADDRESS_PADDING.length)}` as EvmAddress;
}
