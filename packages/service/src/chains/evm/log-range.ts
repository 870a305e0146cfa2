/** Reads logs of many blocks in one request, on nodes with unknown limits on ranges, results and sizes. */
import { OperatingError } from "../../core/errors.ts";
import type { EvmAddress, Hex } from "../../core/hex.ts";
import { type LogAnswer, parseLogs } from "./answers.ts";
import { toQuantity } from "./calls.ts";
import { classifyLimit } from "./limits.ts";
import type { NodeError, Rpc } from "./rpc.ts";

/** Full ranges in a row after which a wider one is tried, once a range was refused: a refusal costs a request. */
const ACCEPTED_BEFORE_GROWTH = 8;

/** The number of blocks that one node accepts for one kind of search, discovered and remembered. */
export interface LogRange {
  /** Blocks of the next request. */
  now(): bigint;
  /** Reports a refused request of `blocks`. A suggestion of the node is adopted if it is less; else half is next. */
  refused(blocks: bigint, suggested?: bigint): void;
  /** Reports an accepted request of `blocks`. Until the first refusal the range doubles; then it grows slowly. */
  accepted(blocks: bigint): void;
}

/** Returns a range that starts with `first` blocks and never exceeds `most`. */
export function createLogRange({ first, most }: { first: bigint; most: bigint }): LogRange {
  let blocks = first;
  let accepted = 0;
  let wasRefused = false;
  return {
    now: () => blocks,
    refused(tried, suggested) {
      const half = tried / 2n;
      const next = suggested !== undefined && suggested < tried ? suggested : half;
      // Of requests that were open together, the last to be refused must not widen the range again.
      blocks = max(1n, min(blocks, next));
      accepted = 0;
      wasRefused = true;
    },
    accepted(tried) {
      if (tried < blocks || blocks === most) return;
      accepted += 1;
      if (wasRefused && accepted < ACCEPTED_BEFORE_GROWTH) return;
      blocks = min(most, blocks + (wasRefused ? max(1n, blocks / 4n) : blocks));
      accepted = 0;
    },
  };
}

export interface LogQuery {
  readonly from: bigint;
  /** At least `from`. */
  readonly to: bigint;
  /** One contract or several; an empty list would match every contract and is refused. */
  readonly address: EvmAddress | readonly EvmAddress[];
  /** By position: null matches every topic, a list any of its own. */
  readonly topics: readonly (Hex | readonly Hex[] | null)[];
}

/** Logs of the blocks from the query's first to `through`. */
export interface LogsInRange {
  /** In the order of the chain. */
  readonly logs: readonly LogAnswer[];
  /** The last block that was read; it may be before the query's last. */
  readonly through: bigint;
}

/**
 * Returns the logs of the query's first blocks, as many as the node accepts at once. The answer is checked: every log matches
 * the query, no log is there twice, and a block has one hash. Logs that the node omits are not noticed here. `readBlock` reads
 * a single block that the node refuses. Throws RPC_UNAVAILABLE without a usable answer.
 */
export async function listLogsInRange(
  rpc: Rpc,
  query: LogQuery,
  range: LogRange,
  readBlock?: (number: bigint) => Promise<readonly LogAnswer[]>,
): Promise<LogsInRange> {
  for (;;) {
    const wanted = query.to - query.from + 1n;
    const blocks = min(range.now(), wanted);
    const through = query.from + blocks - 1n;
    const answer = await callGetLogs(rpc, { ...query, to: through }, range);
    if (answer.kind === "logs") {
      range.accepted(blocks);
      return { logs: answer.logs, through };
    }
    range.refused(blocks, answer.suggested);
    if (blocks > 1n) continue;
    if (!readBlock) throw answer.error;
    return { logs: await readBlock(query.from), through };
  }
}

type Answer =
  | { readonly kind: "logs"; readonly logs: readonly LogAnswer[] }
  /** A smaller range may be accepted. */
  | {
      readonly kind: "refused";
      /** The error where no smaller one is left. */
      readonly error: OperatingError;
      readonly suggested?: bigint | undefined;
    };

async function callGetLogs(rpc: Rpc, query: LogQuery, range: LogRange): Promise<Answer> {
  const { from, to, address, topics } = query;
  const filter = { fromBlock: toQuantity(from), toBlock: toQuantity(to), address, topics };
  let answer;
  try {
    answer = await rpc.call("eth_getLogs", [filter]);
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    const reason = error.details?.["reason"];
    const isTooLong = reason === "timeout";
    if (reason === "answer too large" || (isTooLong && from === to)) {
      return { kind: "refused", error };
    }
    // The next poll asks for less; to wait here again would take too long.
    if (isTooLong) range.refused(to - from + 1n);
    throw error;
  }
  if (!answer.ok) return readRefusal(rpc, answer);
  return { kind: "logs", logs: checkLogs(rpc, query, answer.result) };
}

/** Throws unless the error can be about the range: an unknown error may be. */
function readRefusal(rpc: Rpc, error: NodeError): Answer {
  const limit = classifyLimit(error);
  switch (limit?.kind) {
    case "unknown_block":
    case "pruned_state":
    case "unsupported_method":
    case "rate_limited":
      throw rpc.refusal("eth_getLogs", error);
    default:
      return {
        kind: "refused",
        error: rpc.refusal("eth_getLogs", error),
        suggested: limit?.blocks,
      };
  }
}

function checkLogs(rpc: Rpc, query: LogQuery, result: unknown): readonly LogAnswer[] {
  const logs = rpc
    .read("eth_getLogs", result, parseLogs)
    .toSorted((one, other) =>
      one.blockNumber === other.blockNumber
        ? one.logIndex - other.logIndex
        : one.blockNumber < other.blockNumber
          ? -1
          : 1,
    );
  if (logs.some(({ removed }) => removed)) throw rpc.unavailable("removed logs");
  if (!logs.every((log) => isOfQuery(log, query))) throw rpc.unavailable("logs nobody asked for");
  for (const [index, log] of logs.entries()) {
    const next = logs[index + 1];
    if (next?.blockNumber !== log.blockNumber) continue;
    if (next.logIndex === log.logIndex) throw rpc.unavailable("duplicate logs");
    if (next.blockHash !== log.blockHash) throw rpc.unavailable("logs of two forks");
  }
  return logs;
}

function isOfQuery(log: LogAnswer, { from, to, address, topics }: LogQuery): boolean {
  if (log.blockNumber < from || log.blockNumber > to) return false;
  const addresses: readonly string[] = typeof address === "string" ? [address] : address;
  if (!addresses.includes(log.address)) return false;
  return topics.every((wanted, index) => {
    const topic: string | undefined = log.topics[index];
    if (wanted === null) return topic !== undefined;
    return (
      topic !== undefined &&
      (typeof wanted === "string" ? wanted === topic : wanted.some((one) => one === topic))
    );
  });
}

function min(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

function max(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
