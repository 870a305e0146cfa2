/** The JSON-RPC client of one EVM node, which knows the errors of EVM nodes. */
import type { NodeAnswer, RpcRequest } from "../rpc/json-rpc.ts";
import { createRpc as createAnyRpc, type Rpc as AnyRpc, type RpcOptions } from "../rpc/rpc.ts";
import { reasonOfLimit } from "./limits.ts";
import { createLogRange, type LogRange } from "./log-range.ts";

export type { NodeAnswer, NodeError } from "../rpc/rpc.ts";

export interface Rpc extends AnyRpc {
  /** Blocks that the node accepts in a search for rare events of one contract. */
  readonly searchRange: LogRange;
}

/** Returns a client of one node. */
export function createRpc(options: Omit<RpcOptions, "explain">): Rpc {
  return {
    ...createAnyRpc({ ...options, explain: reasonOfLimit }),
    searchRange: createLogRange({ first: 2_000n, most: 100_000_000n }),
  };
}

/** Requests of blocks and their logs in one HTTP request: their answers have some megabytes. */
const BATCH_MAX = 16;

/** Sends requests in batches, at the same time, and returns their answers in order. */
export async function batchInParts(
  rpc: Rpc,
  requests: readonly RpcRequest[],
): Promise<NodeAnswer[]> {
  const [only] = requests;
  if (only && requests.length === 1) return [await rpc.call(only.method, only.params)];
  const parts: Promise<NodeAnswer[]>[] = [];
  for (let from = 0; from < requests.length; from += BATCH_MAX) {
    parts.push(rpc.batch(requests.slice(from, from + BATCH_MAX)));
  }
  return (await Promise.all(parts)).flat();
}

/** Parses the result of an answer. Throws RPC_UNAVAILABLE for an error of the node. */
export function readAnswer<T>(
  rpc: Rpc,
  method: string,
  answer: NodeAnswer,
  parse: (result: unknown) => T,
): T {
  if (!answer.ok) throw rpc.refusal(method, answer);
  return rpc.read(method, answer.result, parse);
}
