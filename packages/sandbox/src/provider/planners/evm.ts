/**
 * Calls of EVM chains as answered by a replica that is some blocks behind. The node is asked about older blocks instead: a
 * replica knows no block above its head.
 */
import { asRecord } from "../../json-file.ts";
import { type Call, quantityIn, toQuantity } from "../json-rpc.ts";
import { profileOf } from "../profiles.ts";
import type { ProviderSettings } from "../settings.ts";
import type { Upstream } from "../upstream.ts";
import { type ChainReader, createChainReader } from "./chain-reader.ts";
import { planLogs } from "./logs.ts";
import { type Plan, type Planner, refuse, withParam } from "./plan.ts";

/** Position of the block parameter of methods that read state. */
const STATE_METHODS: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
};

/** Methods whose first parameter is a block. */
const BLOCK_METHODS = ["eth_getBlockByNumber", "eth_getBlockReceipts"];
/** Methods whose answer names its block. */
const LOOKUP_METHODS = [
  "eth_getBlockByHash",
  "eth_getTransactionReceipt",
  "eth_getTransactionByHash",
];

export function createEvmPlanner(
  upstream: Upstream,
  settings: () => ProviderSettings,
  nowMs: () => number,
): Planner {
  const chain = createChainReader(upstream, nowMs);
  return {
    plan: async (call, lag) => {
      const { method } = call;
      if (method === "eth_getLogs") return planLogs(chain, settings(), call, lag);
      const position = STATE_METHODS[method];
      if (position !== undefined) return planState(chain, settings(), call, { position, lag });
      if (lag === 0) return { kind: "forward", call };
      if (method === "eth_blockNumber") {
        return { kind: "answer", result: toQuantity((await chain.head()) - lag) };
      }
      if (BLOCK_METHODS.includes(method)) return planBlock(chain, call, lag);
      if (LOOKUP_METHODS.includes(method)) return planLookup(chain, call, lag);
      return { kind: "forward", call };
    },
  };
}

async function planState(
  chain: ChainReader,
  { stateBlocks, profile }: ProviderSettings,
  call: Call,
  { position, lag }: { readonly position: number; readonly lag: number },
): Promise<Plan> {
  const { words } = profileOf(profile);
  const parameter = call.params[position];
  if ((lag === 0 && stateBlocks === null) || parameter === "pending") {
    return { kind: "forward", call };
  }
  const record = asRecord(parameter);
  const number =
    record?.["blockHash"] === undefined
      ? await chain.resolve(record?.["blockNumber"] ?? parameter, lag)
      : await chain.numberOf(record["blockHash"]);
  if (number === undefined) return { kind: "forward", call };
  const head = (await chain.head()) - lag;
  if (lag > 0 && number > head) return refuse(words.unknownBlock, {});
  if (stateBlocks !== null && number <= head - stateBlocks) {
    return refuse(words.pruned, { hash: `${number}`.padStart(64, "0"), blocks: stateBlocks });
  }
  const altered = lag > 0 && record === undefined;
  return { kind: "forward", call: altered ? withParam(call, position, toQuantity(number)) : call };
}

async function planBlock(chain: ChainReader, call: Call, lag: number): Promise<Plan> {
  const [parameter] = call.params;
  if (typeof parameter === "string" && parameter.length === 66) {
    return planLookup(chain, call, lag);
  }
  const number = await chain.resolve(parameter, lag);
  if (number === undefined) return { kind: "forward", call };
  if (number > (await chain.head()) - lag) return { kind: "answer", result: null };
  return { kind: "forward", call: withParam(call, 0, toQuantity(number)) };
}

/** Answers null for a block, transaction or receipt above the replica's head. */
async function planLookup(chain: ChainReader, call: Call, lag: number): Promise<Plan> {
  const head = (await chain.head()) - lag;
  const field = call.method === "eth_getBlockByHash" ? "number" : "blockNumber";
  return {
    kind: "forward",
    call,
    check: (body) =>
      (quantityIn(body, field) ?? 0) > head ? { kind: "answer", result: null } : undefined,
  };
}
