/** Heights of the node's chain, as seen by a replica that is some blocks behind. */
import { asRecord } from "../../json-file.ts";
import { parseQuantity } from "../json-rpc.ts";
import type { Upstream } from "../upstream.ts";

/** Milliseconds for which the node's head is cached. */
const HEAD_MS = 10;
/** Most block hashes whose number is cached. */
const HASHES_MAX = 10_000;

export interface ChainReader {
  /** Returns the node's head. */
  head(): Promise<number>;
  /** Returns the number of a block by its hash; undefined if the node does not know it. */
  numberOf(hash: unknown): Promise<number | undefined>;
  /** Returns the height that a tag or a quantity means to a replica; undefined for one that the node has to refuse. */
  resolve(tag: unknown, lag: number): Promise<number | undefined>;
}

export function createChainReader(upstream: Upstream, nowMs: () => number): ChainReader {
  const numbers = new Map<unknown, number>();
  let head: Promise<number> | undefined;
  let headAt = 0;

  async function numberOfBlock(method: string, parameter: unknown): Promise<number | undefined> {
    const block = await upstream.ask(method, [parameter, false]);
    return parseQuantity(asRecord(block)?.["number"]);
  }

  async function readHead(): Promise<number> {
    if (head === undefined || nowMs() - headAt > HEAD_MS) {
      headAt = nowMs();
      head = upstream.ask("eth_blockNumber", []).then((number) => parseQuantity(number) ?? 0);
    }
    return head;
  }

  return {
    head: readHead,
    numberOf: async (hash) => {
      const known = numbers.get(hash);
      if (known !== undefined) return known;
      const number = await numberOfBlock("eth_getBlockByHash", hash);
      if (number === undefined) return undefined;
      if (numbers.size >= HASHES_MAX) numbers.clear();
      numbers.set(hash, number);
      return number;
    },
    resolve: async (tag, lag) => {
      if (tag === undefined || tag === null || tag === "latest" || tag === "pending") {
        return Math.max(0, (await readHead()) - lag);
      }
      if (tag === "earliest") return 0;
      if (tag !== "finalized" && tag !== "safe") return parseQuantity(tag);
      const number = await numberOfBlock("eth_getBlockByNumber", tag);
      return number === undefined ? undefined : Math.max(0, number - lag);
    },
  };
}
