/** Searches one event backwards through blocks. */
import type { EvmAddress, Hex } from "../../core/hex.ts";
import type { LogAnswer } from "./answers.ts";
import { listLogsInRange } from "./log-range.ts";
import type { Rpc } from "./rpc.ts";

/** Blocks of the first piece. Most events are recent. */
const FIRST_SPAN = 2_000n;
const REQUESTS_MAX = 64;

export interface LogSearch<Found> {
  readonly address: EvmAddress;
  readonly topics: readonly (Hex | null)[];
  /** Last block to search; the search goes back from there. */
  readonly newest: bigint;
  readonly oldest: bigint;
  /** Requests before the search is cut short; 64 by default. */
  readonly requestsMax?: number;
  /** Parses a log of the address, or returns null for a log that does not match. */
  readonly read: (log: LogAnswer) => Found | null;
}

/**
 * Returns the newest matching event, null if there is none, or "unfinished" if the search was cut short. Throws
 * RPC_UNAVAILABLE without a usable answer.
 */
export async function searchBackwards<Found>(
  rpc: Rpc,
  { address, topics, newest, oldest, read, requestsMax = REQUESTS_MAX }: LogSearch<Found>,
): Promise<Found | null | "unfinished"> {
  let span = FIRST_SPAN;
  let end = newest;
  let requests = 0;
  while (end >= oldest) {
    if (requests >= requestsMax) return "unfinished";
    const blocks = span < rpc.searchRange.now() ? span : rpc.searchRange.now();
    const start = end - blocks + 1n > oldest ? end - blocks + 1n : oldest;
    const query = { from: start, to: end, address, topics };
    const { logs, through } = await listLogsInRange(rpc, query, rpc.searchRange);
    requests += 1;
    // The node gives fewer blocks, and the range is narrower now: the newest blocks are still the first.
    if (through < end) continue;
    const found = findNewest(logs, read);
    if (found) return found;
    end = start - 1n;
    span *= 2n;
  }
  return null;
}

function findNewest<Found>(
  logs: readonly LogAnswer[],
  read: (log: LogAnswer) => Found | null,
): Found | null {
  for (const log of logs.toReversed()) {
    const found = read(log);
    if (found) return found;
  }
  return null;
}
