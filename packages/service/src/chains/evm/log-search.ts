/** Looking for one event backwards through blocks, on nodes that take ranges of unknown size. */
import type { EvmAddress, Hex } from "../../core/hex.ts";
import { type LogAnswer, parseLogs } from "./answers.ts";
import { toQuantity } from "./calls.ts";
import type { Rpc } from "./rpc.ts";

/** Blocks of the first search. What is looked for mostly happened a short while ago. */
const FIRST_SPAN = 2_000n;
const REQUESTS_MAX = 64;

export interface LogSearch<Found> {
  readonly address: EvmAddress;
  readonly topics: readonly (Hex | null)[];
  /** The last block that is searched; the search goes back from there. */
  readonly newest: bigint;
  readonly oldest: bigint;
  /** What a log of the address is, or null for one that is not meant. */
  readonly read: (log: LogAnswer) => Found | null;
}

/** The newest event that is meant, null when there is none, "unfinished" when the search had to end before it knew. */
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

/** The newest in a range of blocks, or null; "refused" when the node states an error: it may take a smaller range. */
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
