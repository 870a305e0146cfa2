/** The JSON-RPC methods of the synthetic chain. */
import { asRecord } from "../../json-file.ts";
import { type Call, parseQuantity, toQuantity } from "../json-rpc.ts";
import { refusalOf } from "../profiles.ts";
import { renderError, type RefusalError, type RefusalValues } from "../refusal.ts";
import type { Blocks } from "./blocks.ts";
import { answerCall } from "./calls.ts";
import { type DepositBook, NATIVE } from "./deposits.ts";
import type { BlockId, History } from "./history.ts";
import type { JsonWriter } from "./json.ts";
import type { LogReader } from "./logs.ts";

/** A result: JSON as bytes, or a value. */
export type MethodResult = { readonly json: Buffer } | { readonly value: unknown };

/** An error of the node, for the client. */
export class NodeError extends Error {
  override readonly name = "NodeError";
  readonly error: RefusalError;
  constructor(error: RefusalError) {
    super(error.message);
    this.error = error;
  }
}

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

export function createMethods(parts: MethodParts): (call: Call) => MethodResult {
  const { head, history, blocks, writer, deposits } = parts;

  function fail(id: Parameters<typeof refusalOf>[0], values: RefusalValues = {}): never {
    throw new NodeError(renderError(refusalOf(id), values));
  }

  /** Returns the height that a tag or quantity names; undefined above the head. */
  function heightOf(tag: unknown): number | undefined {
    if (tag === undefined || tag === null || tag === "latest" || tag === "pending") return head();
    if (tag === "earliest") return 0;
    if (tag === "finalized" || tag === "safe") return Math.max(0, head() - parts.finalDepth);
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

  /** Returns the block of a parameter of a method that reads state. */
  function stateBlock(parameter: unknown): BlockId {
    const record = asRecord(parameter);
    const hash = record?.["blockHash"];
    const id =
      typeof hash === "string"
        ? history.blockOf(hash)
        : byNumber(record?.["blockNumber"] ?? parameter);
    return id ?? fail("geth.header");
  }

  function block(id: BlockId | undefined, hydrated: unknown): MethodResult {
    return id === undefined ? NULL : { json: blocks.json(id, hydrated === true) };
  }

  function getLogs(filter: unknown): MethodResult {
    const { blockHash, fromBlock, toBlock } = asRecord(filter) ?? {};
    if (typeof blockHash === "string") {
      const id = history.blockOf(blockHash) ?? fail("geth.unknown-block");
      return { json: parts.logs.read(filter, id.number, id.number) };
    }
    const first = heightOf(fromBlock) ?? fail("geth.beyond-head");
    const last = heightOf(toBlock) ?? fail("geth.beyond-head");
    if (first > last) throw new NodeError({ code: -32602, message: "invalid block range params" });
    try {
      return { json: parts.logs.read(filter, first, last) };
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new NodeError({ code: -32005, message: error.message });
    }
  }

  function balanceAt(id: BlockId) {
    return (token: string, owner: string) =>
      deposits.balance(token, owner, id.number, (number) => history.blockAt(number).fork);
  }

  function getReceipts(parameter: unknown): MethodResult {
    const hash = typeof parameter === "string" && parameter.length === 66 ? parameter : undefined;
    const id = hash === undefined ? byNumber(parameter) : history.blockOf(hash);
    if (id === undefined) return NULL;
    const found = blocks.get(id);
    const receipts = found.contents.transactions.map((_, index) => writer.receipt(found, index));
    return { json: Buffer.from(`[${receipts.join(",")}]`) };
  }

  function byTransaction(hash: unknown, write: JsonWriter["receipt"]): MethodResult {
    const found = typeof hash === "string" ? blocks.find(hash) : undefined;
    return found === undefined ? NULL : { json: Buffer.from(write(found.block, found.index)) };
  }

  function call(request: unknown, parameter: unknown): MethodResult {
    const value = answerCall(request, balanceAt(stateBlock(parameter)));
    if (value === undefined) throw new NodeError({ code: 3, message: "execution reverted" });
    return { value };
  }

  const methods: Readonly<Record<string, (...params: readonly unknown[]) => MethodResult>> = {
    eth_chainId: () => ({ value: toQuantity(parts.chainId) }),
    net_version: () => ({ value: String(parts.chainId) }),
    web3_clientVersion: () => ({ value: "SluiceSyntheticChain" }),
    eth_syncing: () => ({ value: false }),
    eth_blockNumber: () => ({ value: toQuantity(head()) }),
    eth_gasPrice: () => ({ value: "0x68e7780" }),
    eth_getBlockByNumber: (tag, hydrated) => block(byNumber(tag), hydrated),
    eth_getBlockByHash: (hash, hydrated) => block(history.blockOf(String(hash)), hydrated),
    eth_getLogs: getLogs,
    eth_getTransactionReceipt: (hash) => byTransaction(hash, writer.receipt),
    eth_getTransactionByHash: (hash) => byTransaction(hash, writer.transaction),
    eth_getBlockReceipts: getReceipts,
    eth_call: call,
    eth_getBalance: (owner, tag) => {
      const balance = balanceAt(stateBlock(tag))(NATIVE, String(owner).toLowerCase());
      return { value: `0x${balance.toString(16)}` };
    },
    eth_getTransactionCount: () => ({ value: "0x0" }),
    eth_getCode: (address) => ({
      value: parts.tokens.includes(String(address).toLowerCase()) ? "0x60016000f3" : "0x",
    }),
  };

  return ({ method, params }) => {
    const found = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (found !== undefined) return found(...params);
    const control = Object.hasOwn(parts.controls, method) ? parts.controls[method] : undefined;
    if (control !== undefined) return { value: control(params[0]) };
    return fail("geth.method", { method });
  };
}
