/** Recorded answers of EVM nodes, one block each, and a node that replays them. SOURCES.md lists them. */
import { existsSync, readFileSync } from "node:fs";
import type { Asked, Reply } from "../evm/malformed-node.ts";

type Json = Readonly<Record<string, unknown>>;

export interface RecordedLog extends Json {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockHash: string;
  readonly blockNumber: string;
}

export interface RecordedReceipt extends Json {
  readonly transactionHash: string;
  readonly to: string | null;
  readonly logs: readonly RecordedLog[];
}

/** One block with its transactions, the recorded receipts and the recorded logs. */
export interface Recording {
  readonly block: Json & {
    readonly number: string;
    readonly hash: string;
    readonly transactions: readonly (Json & { readonly hash: string })[];
  };
  /** In the order of the block; a recording can lack some, or all. */
  readonly receipts: readonly RecordedReceipt[];
  /** In the order of the block. */
  readonly logs: readonly RecordedLog[];
}

/** Reads a recording by the folder and the beginning of its files' names, such as `base/77976`. */
export function readRecording(name: string): Recording {
  const receipts: Recording["receipts"] = readAnswer(`${name}-receipts.json`) ?? [];
  const block: Recording["block"] | undefined = readAnswer(`${name}-block.json`);
  if (block === undefined) throw new Error(`there is no recorded block ${name}`);
  const logs = readAnswer<Recording["logs"]>(`${name}-logs.json`);
  return { block, receipts, logs: logs ?? receipts.flatMap((receipt) => receipt.logs) };
}

/** Reads a recorded answer; undefined if there is none. */
export function readAnswer<T>(path: string): T | undefined {
  const url = new URL(path, import.meta.url);
  return existsSync(url) ? JSON.parse(readFileSync(url, "utf8")) : undefined;
}

/** Answers as the node of a chain whose newest and newest final block is the recorded one. */
export function replay(recording: Recording): (asked: Asked) => Reply {
  const { block, receipts, logs } = recording;
  const withHashes = { ...block, transactions: block.transactions.map(({ hash }) => hash) };
  const names = new Set<unknown>([block.hash, block.number, "latest", "finalized"]);
  const findBlock = ([name, isFull]: readonly unknown[]) =>
    names.has(name) ? (isFull === true ? block : withHashes) : null;
  const answers: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
    eth_blockNumber: () => block.number,
    eth_getBlockByNumber: findBlock,
    eth_getBlockByHash: findBlock,
    eth_getTransactionReceipt: ([hash]) =>
      receipts.find(({ transactionHash }) => transactionHash === hash) ?? null,
    eth_getBlockReceipts: () => receipts,
    eth_getLogs: ([filter]) => filterLogs(logs, filter),
  };
  return ({ method, params }) => {
    const answer = answers[method];
    if (!answer) return { error: { code: -32601, message: `${method} was not recorded` } };
    return { result: answer(params) };
  };
}

/** Applies a filter of `eth_getLogs` within the recorded block. */
function filterLogs(logs: readonly RecordedLog[], filter: unknown): readonly RecordedLog[] {
  if (typeof filter !== "object" || filter === null) throw new Error("expected a filter");
  const addresses = "address" in filter ? [filter.address].flat() : [];
  const topics = "topics" in filter && Array.isArray(filter.topics) ? filter.topics : [];
  return logs.filter(
    (log) =>
      (addresses.length === 0 || addresses.includes(log.address)) &&
      topics.every(
        (wanted, index) => wanted === null || [wanted].flat().includes(log.topics[index]),
      ),
  );
}
