/** The JSON-RPC client of one EVM node, which knows the errors of EVM nodes. */
import { createRpc as createAnyRpc, type Rpc as AnyRpc, type RpcOptions } from "../rpc/rpc.ts";
import { reasonOfLimit } from "./limits.ts";
import { createLogRange, type LogRange } from "./log-range.ts";

export type { NodeAnswer, NodeError, RpcRequest } from "../rpc/rpc.ts";

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
