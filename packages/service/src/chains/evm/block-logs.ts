/**
 * The wanted logs of single blocks, read by block hash. Strangers decide how many logs a block has, so none of their logs is
 * read, and wanted ones are read in parts where there are too many for one answer: first by contract, then by transaction. A
 * transaction's receipt is bounded by the gas of the transaction, so no block is unreadable.
 */
import type { EvmAddress, TxHash } from "../../core/hex.ts";
import type { BlockId } from "../port/index.ts";
import { reasonOf } from "../rpc/errors.ts";
import {
  type BlockAnswer,
  type LogAnswer,
  parseLogReceipt,
  parseLogs,
  parseTxHashes,
} from "./answers.ts";
import { classifyLimit } from "./limits.ts";
import type { LogFilter } from "./log-filter.ts";
import { batchInParts, type NodeAnswer, readAnswer, type Rpc } from "./rpc.ts";
import { checkLogs } from "./transfers.ts";

/** Receipts per batch of requests. */
const RECEIPTS_AT_ONCE = 20;

type Block = BlockId & Pick<BlockAnswer, "logsBloom">;

/** Returns a reader of the logs under a filter of each block, in order. It remembers blocks that took too long in one answer. */
export function createBlockLogsReader(
  rpc: Rpc,
): (blocks: readonly Block[], filter: LogFilter) => Promise<LogAnswer[][]> {
  /** The last block whose logs timed out. */
  let slow: string | null = null;

  async function readAll(blocks: readonly Block[], filter: LogFilter): Promise<LogAnswer[][]> {
    const answers = await batchInParts(
      rpc,
      blocks.map(({ hash }) => questionOf(hash, filter)),
    );
    return Promise.all(
      blocks.map(async (block, index) => {
        const answer = answers[index];
        if (!answer) throw rpc.unavailable("answer missing");
        if (isTooMany(answer)) return readInParts(rpc, block, filter);
        return readWanted(rpc, { block, filter, answer });
      }),
    );
  }

  async function read(blocks: readonly Block[], filter: LogFilter): Promise<LogAnswer[][]> {
    const [only] = blocks;
    // Of several blocks the scanner asks for fewer next time.
    if (!only || blocks.length > 1) return readAll(blocks, filter);
    if (only.hash === slow) return [await readInParts(rpc, only, filter)];
    try {
      return await readAll(blocks, filter);
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === "timeout") slow = only.hash;
      if (reason !== "answer too large") throw error;
      return [await readInParts(rpc, only, filter)];
    }
  }

  return async (blocks, filter) => {
    const logs = await read(blocks, filter);
    // A server that lacks the block's logs may answer with none instead of an error. The bloom filter of the header only
    // raises the suspicion: it may say so of a block without such logs, strangers can fill it, and some chains leave logs out
    // of it. So the same question is asked once more, and its answer counts.
    const suspicious = blocks.filter(
      ({ logsBloom }, index) => logs[index]?.length === 0 && filter.mayHold(logsBloom),
    );
    if (suspicious.length === 0) return logs;
    const again = await read(suspicious, filter);
    return blocks.map((block, index) => again[suspicious.indexOf(block)] ?? logs[index] ?? []);
  };
}

function questionOf(blockHash: string, { params }: Pick<LogFilter, "params">) {
  return { method: "eth_getLogs", params: [{ blockHash, ...params }] };
}

/** Reports whether the node refused because of the number or size of the logs. An error that it does not explain may say so. */
function isTooMany(answer: NodeAnswer): boolean {
  if (answer.ok) return false;
  const limit = classifyLimit(answer);
  return (
    limit === null ||
    limit.kind === "too_many_results" ||
    limit.kind === "answer_too_large" ||
    limit.kind === "range_too_wide"
  );
}

function readWanted(
  rpc: Rpc,
  { block, filter, answer }: { block: BlockId; filter: LogFilter; answer: NodeAnswer },
): LogAnswer[] {
  const logs = checkLogs(rpc, block, readAnswer(rpc, "eth_getLogs", answer, parseLogs));
  if (!logs.every(filter.isWanted)) throw rpc.unavailable("logs nobody asked for");
  return logs;
}

/** Reads the logs of each contract, and those of a contract with too many from the receipts. */
export async function readInParts(
  rpc: Rpc,
  block: BlockId,
  filter: LogFilter,
): Promise<LogAnswer[]> {
  const found: LogAnswer[] = [];
  const tooMany = new Set<EvmAddress>();
  for (const address of filter.params.address) {
    const params = { ...filter.params, address: [address] };
    const logs = await readOne(rpc, block, { ...filter, params });
    if (logs === "too many") tooMany.add(address);
    else found.push(...logs);
  }
  if (tooMany.size > 0) {
    const logs = await readFromReceipts(rpc, block);
    found.push(...logs.filter((log) => tooMany.has(log.address) && filter.isWanted(log)));
  }
  return checkLogs(rpc, block, found);
}

async function readOne(
  rpc: Rpc,
  block: BlockId,
  filter: LogFilter,
): Promise<LogAnswer[] | "too many"> {
  const { method, params } = questionOf(block.hash, filter);
  try {
    const answer = await rpc.call(method, params);
    return isTooMany(answer) ? "too many" : readWanted(rpc, { block, filter, answer });
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === "answer too large" || reason === "timeout") return "too many";
    throw error;
  }
}

/** Reads all logs of a block from the receipt of each of its transactions. */
async function readFromReceipts(rpc: Rpc, block: BlockId): Promise<LogAnswer[]> {
  const hashes = await rpc.ask("eth_getBlockByHash", [block.hash, false], parseTxHashes);
  if (hashes === null) throw rpc.unavailable("block not found");
  const logs: LogAnswer[] = [];
  for (let from = 0; from < hashes.length; from += RECEIPTS_AT_ONCE) {
    const some = hashes.slice(from, from + RECEIPTS_AT_ONCE);
    const read = await Promise.all(some.map((hash) => readReceipt(rpc, block, hash)));
    logs.push(...read.flat());
  }
  return logs;
}

async function readReceipt(
  rpc: Rpc,
  block: BlockId,
  txHash: TxHash,
): Promise<readonly LogAnswer[]> {
  const receipt = await rpc.ask("eth_getTransactionReceipt", [txHash], parseLogReceipt);
  if (receipt === null) throw rpc.unavailable("receipt not found");
  if (receipt.txHash !== txHash || receipt.blockHash !== block.hash) {
    throw rpc.unavailable("a receipt of another block");
  }
  return receipt.logs;
}
