/** The JSON-RPC methods of the synthetic chain. */
import { asRecord } from "../../json-file.ts";
import { type Call, toQuantity } from "../json-rpc.ts";
import type { Blocks } from "./blocks.ts";
import { answerCall } from "./calls.ts";
import { type DepositBook, NATIVE } from "./deposits.ts";
import { createHeights, type Heights } from "./heights.ts";
import type { BlockId, History } from "./history.ts";
import type { JsonWriter } from "./json.ts";
import type { LogReader } from "./logs.ts";
import { fail, NodeError } from "./node-error.ts";

/** A result: JSON as bytes, or a value. */
export type MethodResult = { readonly json: Buffer } | { readonly value: unknown };

type Methods = Readonly<Record<string, (...params: readonly unknown[]) => MethodResult>>;

export interface MethodParts {
  readonly chainId: number;
  readonly tokens: readonly string[];
  readonly head: () => number;
  readonly finalDepth: number;
  readonly history: History;
  readonly blocks: Blocks;
  readonly logs: LogReader;
  readonly deposits: DepositBook;
  readonly writer: JsonWriter;
  /** The chain's controls: methods with the prefix `synthetic_`. */
  readonly controls: Readonly<Record<string, (param: unknown) => unknown>>;
}

const NULL: MethodResult = { value: null };

/** Returns the function that answers a call. */
export function createMethods(parts: MethodParts): (call: Call) => MethodResult {
  const heights = createHeights(parts.history, parts.head, parts.finalDepth);
  const methods: Methods = {
    ...chainMethods(parts),
    ...blockMethods(parts, heights),
    ...stateMethods(parts, heights),
    eth_getLogs: (filter) => getLogs(parts, heights, filter),
  };
  return ({ method, params }) => {
    const found = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (found !== undefined) return found(...params);
    const control = Object.hasOwn(parts.controls, method) ? parts.controls[method] : undefined;
    if (control !== undefined) return { value: control(params[0]) };
    return fail("geth.method", { method });
  };
}

function chainMethods({ chainId, head }: MethodParts): Methods {
  return {
    eth_chainId: () => ({ value: toQuantity(chainId) }),
    net_version: () => ({ value: String(chainId) }),
    web3_clientVersion: () => ({ value: "SluiceSyntheticChain" }),
    eth_syncing: () => ({ value: false }),
    eth_blockNumber: () => ({ value: toQuantity(head()) }),
    eth_gasPrice: () => ({ value: "0x68e7780" }),
  };
}

function blockMethods({ blocks, history, writer }: MethodParts, heights: Heights): Methods {
  const write = (id: BlockId | undefined, hydrated: unknown): MethodResult =>
    id === undefined ? NULL : { json: blocks.json(id, hydrated === true) };
  const byTransaction = (hash: unknown, writeOne: JsonWriter["receipt"]): MethodResult => {
    const found = typeof hash === "string" ? blocks.find(hash) : undefined;
    return found === undefined ? NULL : { json: Buffer.from(writeOne(found.block, found.index)) };
  };
  return {
    eth_getBlockByNumber: (tag, hydrated) => write(heights.byNumber(tag), hydrated),
    eth_getBlockByHash: (hash, hydrated) => write(history.blockOf(String(hash)), hydrated),
    eth_getTransactionReceipt: (hash) => byTransaction(hash, writer.receipt),
    eth_getTransactionByHash: (hash) => byTransaction(hash, writer.transaction),
    eth_getBlockReceipts: (parameter) => {
      const isHash = typeof parameter === "string" && parameter.length === 66;
      const id = isHash ? history.blockOf(parameter) : heights.byNumber(parameter);
      if (id === undefined) return NULL;
      const block = blocks.get(id);
      const receipts = block.contents.transactions.map((_, index) => writer.receipt(block, index));
      return { json: Buffer.from(`[${receipts.join(",")}]`) };
    },
  };
}

function stateMethods({ deposits, history, tokens }: MethodParts, heights: Heights): Methods {
  const balanceAt = (parameter: unknown) => {
    const { number } = heights.stateBlock(parameter);
    const forkAt = (height: number) => history.blockAt(height).fork;
    return (token: string, owner: string) => deposits.balance(token, owner, number, forkAt);
  };
  return {
    eth_call: (request, parameter) => {
      const value = answerCall(request, balanceAt(parameter));
      if (value === undefined) throw new NodeError({ code: 3, message: "execution reverted" });
      return { value };
    },
    eth_getBalance: (owner, parameter) => {
      const balance = balanceAt(parameter)(NATIVE, String(owner).toLowerCase());
      return { value: `0x${balance.toString(16)}` };
    },
    eth_getTransactionCount: () => ({ value: "0x0" }),
    eth_getCode: (address) => ({
      value: tokens.includes(String(address).toLowerCase()) ? "0x60016000f3" : "0x",
    }),
  };
}

function getLogs({ history, logs }: MethodParts, heights: Heights, filter: unknown): MethodResult {
  const { blockHash, fromBlock, toBlock } = asRecord(filter) ?? {};
  if (typeof blockHash === "string") {
    const id = history.blockOf(blockHash) ?? fail("geth.unknown-block");
    return { json: logs.read(filter, id.number, id.number) };
  }
  const first = heights.heightOf(fromBlock) ?? fail("geth.beyond-head");
  const last = heights.heightOf(toBlock) ?? fail("geth.beyond-head");
  if (first > last) throw new NodeError({ code: -32602, message: "invalid block range params" });
  try {
    return { json: logs.read(filter, first, last) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new NodeError({ code: -32005, message: error.message });
  }
}
