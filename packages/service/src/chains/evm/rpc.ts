/** The JSON-RPC client of one EVM node, which knows the errors of EVM nodes. */
import type { NodeAnswer, RpcRequest } from "../rpc/json-rpc.ts";
import { createRpc as createAnyRpc, type Rpc as AnyRpc, type RpcOptions } from "../rpc/rpc.ts";
import { classifyLimit, reasonOfLimit } from "./limits.ts";
import { createLogRange, type LogRange } from "./log-range.ts";
import { createViewMerge } from "./merge-views.ts";

export type { NodeAnswer, NodeError } from "../rpc/rpc.ts";

export interface Rpc extends AnyRpc {
  /** Blocks that the node accepts in a search for rare events of one contract. */
  readonly searchRange: LogRange;
}

/** Returns a client of one node. */
export function createRpc(
  options: Omit<RpcOptions, "explain" | "isBehind" | "isShared" | "merge">,
): Rpc {
  return {
    ...createAnyRpc({
      ...options,
      explain: reasonOfLimit,
      isBehind,
      isShared,
      merge: createViewMerge(),
    }),
    searchRange: createLogRange({ first: 2_000n, most: 100_000_000n }),
  };
}

/** Requests with short answers, which a node has in its own records. Strangers decide how long a receipt is. */
const SHARED: ReadonlySet<string> = new Set([
  "eth_blockNumber",
  "eth_getBalance",
  "eth_getBlockByNumber",
  "eth_getCode",
  "eth_getTransactionCount",
  "eth_maxPriorityFeePerGas",
]);

/** A request that names a block by its hash may have to be sent again to another server, for which others do not wait. */
function isShared({ method, params }: RpcRequest): boolean {
  return SHARED.has(method) && !namesHash(params);
}

/** Reports whether the server lacks the block that a request names by its hash. Another server has announced it. */
function isBehind({ method, params }: RpcRequest, answer: NodeAnswer): boolean {
  if (answer.ok) return method === "eth_getBlockByHash" && answer.result === null;
  return namesHash(params) && classifyLimit(answer)?.kind === "unknown_block";
}

function namesHash(params: readonly unknown[]): boolean {
  return params.some(
    (param) => typeof param === "object" && param !== null && "blockHash" in param,
  );
}

/** Requests of blocks and their logs in one HTTP request: their answers have some megabytes. */
const BATCH_MAX = 16;

/** Splits the subjects of requests into those of one HTTP request each. */
export function splitInParts<T>(items: readonly T[]): (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / BATCH_MAX) }, (_, index) =>
    items.slice(index * BATCH_MAX, (index + 1) * BATCH_MAX),
  );
}

/** Sends requests in batches, at the same time, and returns their answers in order. */
export async function batchInParts(
  rpc: Rpc,
  requests: readonly RpcRequest[],
): Promise<NodeAnswer[]> {
  const [only] = requests;
  if (only && requests.length === 1) return [await rpc.call(only.method, only.params)];
  const parts = splitInParts(requests).map((part) => rpc.batch(part));
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
