/** Searches one event backwards through blocks, on nodes with unknown limits on block ranges. */
import type { EvmAddress, Hex } from "../../core/hex.ts";
import { type LogAnswer, parseLogs } from "./answers.ts";
import { toQuantity } from "./calls.ts";
import type { Rpc } from "./rpc.ts";

/** Blocks of the first search. Most events are recent. */
const FIRST_SPAN = 2_000n;
const REQUESTS_MAX = 64;

export interface LogSearch<Found> {
  readonly address: EvmAddress;
  readonly topics: readonly (Hex | null)[];
  /** Last block to search; the search goes back from there. */
  readonly newest: bigint;
  readonly oldest: bigint;
  /** Parses a log of the address, or returns null for a log that does not match. */
  readonly read: (log: LogAnswer) => Found | null;
}

/** Returns the newest matching event, null if there is none, or "unfinished" if the search was cut short. */
export async function searchBackwards<Found>(
  rpc: Rpc,
  search: LogSearch<Found>,
): Promise<Found | null | "unfinished"> {
  const { newest, oldest } = search;
  let end = newest;
  let span = FIRST_SPAN;
  for (let requests = 0; requests < REQUESTS_MAX && end >= oldest; requests++) {
    const start = end - span + 1n > oldest ? end - span + 1n : oldest;
    const found = await searchBlocks(rpc, search, { start, end });
    if (found === "refused") {
      if (span === 1n) break;
      span /= 2n;
    } else if (found) {
      return found;
    } else {
      end = start - 1n;
      span *= 2n;
    }
  }
  return end < oldest ? null : "unfinished";
}

/**
 * Returns the newest match in a block range, or null; "refused" if the node returns an error, as it may accept a smaller
 * range.
 */
async function searchBlocks<Found>(
  rpc: Rpc,
  { address, topics, read }: LogSearch<Found>,
  { start, end }: { readonly start: bigint; readonly end: bigint },
): Promise<Found | null | "refused"> {
  const range = { fromBlock: toQuantity(start), toBlock: toQuantity(end) };
  const answer = await rpc.call("eth_getLogs", [{ ...range, address, topics }]);
  if (!answer.ok) return "refused";
  return rpc.read("eth_getLogs", answer.result, (result) => {
    for (const log of parseLogs(result).toReversed()) {
      const found = log.removed || log.address !== address ? null : read(log);
      if (found) return found;
    }
    return null;
  });
}
