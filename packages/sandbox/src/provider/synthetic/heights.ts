/** The blocks that tags, quantities and hashes in parameters name. */
import { asRecord } from "../../json-file.ts";
import { parseQuantity } from "../json-rpc.ts";
import type { BlockId, History } from "./history.ts";
import { fail, NodeError } from "./node-error.ts";

export interface Heights {
  /** Returns the height that a tag or quantity names; undefined above the head. */
  heightOf(tag: unknown): number | undefined;
  byNumber(tag: unknown): BlockId | undefined;
  /** Returns the block of a method that reads state. Throws "header not found" for an unknown one. */
  stateBlock(parameter: unknown): BlockId;
}

export function createHeights(history: History, head: () => number, finalDepth: number): Heights {
  function heightOf(tag: unknown): number | undefined {
    if (tag === undefined || tag === null || tag === "latest" || tag === "pending") return head();
    if (tag === "earliest") return 0;
    if (tag === "finalized" || tag === "safe") return Math.max(0, head() - finalDepth);
    const number = parseQuantity(tag);
    if (number === undefined) {
      throw new NodeError({ code: -32602, message: `invalid argument: block ${String(tag)}` });
    }
    return number <= head() ? number : undefined;
  }

  function byNumber(tag: unknown): BlockId | undefined {
    const height = heightOf(tag);
    return height === undefined ? undefined : history.blockAt(height);
  }

  return {
    heightOf,
    byNumber,
    stateBlock: (parameter) => {
      const record = asRecord(parameter);
      const hash = record?.["blockHash"];
      const id =
        typeof hash === "string"
          ? history.blockOf(hash)
          : byNumber(record?.["blockNumber"] ?? parameter);
      return id ?? fail("geth.header");
    },
  };
}
