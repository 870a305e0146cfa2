/** Reads the logs of one block, and token transfers in them. */
import { toEventSelector } from "viem";
import { type EvmAddress, type Hex, type Hex32, unpadAddress } from "../../core/hex.ts";
import type { BlockId, Transfer } from "../port/index.ts";
import { type LogAnswer, parseLogs } from "./answers.ts";
import type { Rpc } from "./rpc.ts";

/** `Transfer` of ERC-20. */
export const TRANSFER = toEventSelector("Transfer(address,address,uint256)");

interface LogFilter {
  readonly address?: readonly EvmAddress[];
  readonly topics?: readonly (readonly Hex[])[];
}

/** Returns the logs of exactly this block, in order. */
export async function getLogs(rpc: Rpc, block: BlockId, filter: LogFilter): Promise<LogAnswer[]> {
  const params = [{ blockHash: block.hash, ...filter }];
  return checkLogs(rpc, block, await rpc.ask("eth_getLogs", params, parseLogs));
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
