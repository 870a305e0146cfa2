/**
 * Calls of EVM chains as a replica answers them that is some blocks behind, and the limits on logs and state. A replica is
 * imitated by asking the node about older blocks: it knows no block above its head.
 */
import { asRecord } from "../json-file.ts";
import { type Call, countIn, parseQuantity, quantityIn, toQuantity } from "./json-rpc.ts";
import { type Plan, type Planner, refuse, type Verdict } from "./plan.ts";
import { profileOf } from "./profiles.ts";
import type { RefusalValues } from "./refusal.ts";
import type { ProviderSettings } from "./settings.ts";
import type { Upstream } from "./upstream.ts";

/** How long the node's head is believed. */
const HEAD_MS = 10;
/** Block hashes whose number is remembered. */
const HASHES_MAX = 10_000;

/** Position of the block parameter of methods that read state. */
const STATE_METHODS: Readonly<Record<string, number>> = {
  eth_call: 1,
  eth_getBalance: 1,
  eth_getCode: 1,
  eth_getTransactionCount: 1,
  eth_getStorageAt: 2,
};

/** Position of the block parameter of methods that read blocks by number. */
const BLOCK_METHODS = ["eth_getBlockByNumber", "eth_getBlockReceipts"];

export function createEvmPlanner(
  upstream: Upstream,
  settings: () => ProviderSettings,
  nowMs: () => number,
): Planner {
  const chain = createChainReader(upstream, nowMs);
  const words = () => profileOf(settings().profile).words;

  async function planLogs(call: Call, lag: number): Promise<Plan> {
    const filter = asRecord(call.params[0]) ?? {};
    const { logsNeedAddress, rangeBlocks } = settings();
    const addresses = filter["address"];
    if (logsNeedAddress && (addresses === undefined || addresses === null)) {
      return refuse(words().address, {});
    }
    if (filter["blockHash"] !== undefined) return planLogsOfBlock(call, filter["blockHash"], lag);
    const first = await chain.resolve(filter["fromBlock"], lag);
    const last = await chain.resolve(filter["toBlock"], lag);
    if (first === undefined || last === undefined) return { kind: "forward", call };
    const values = rangeValues(first, last, rangeBlocks ?? 0);
    if (rangeBlocks !== null && last - first + 1 > rangeBlocks)
      return refuse(words().range, values);
    const check = (body: Buffer) => checkResults(body, first, last);
    if (lag === 0) return { kind: "forward", call, check };
    const head = (await chain.head()) - lag;
    if (last <= head) {
      return { kind: "forward", call: withRange(call, filter, first, last), check };
    }
    const { beyondHead } = words();
    if (beyondHead !== null) return refuse(beyondHead, { ...values, head });
    if (first > head) return { kind: "answer", result: [] };
    return { kind: "forward", call: withRange(call, filter, first, head), check };
  }

  async function planLogsOfBlock(call: Call, hash: unknown, lag: number): Promise<Plan> {
    const { emptyForUnknownBlock } = settings();
    const check = (body: Buffer) => checkResults(body, 0, 0);
    if (lag === 0 && !emptyForUnknownBlock) return { kind: "forward", call, check };
    const number = await chain.numberOf(hash);
    const known = number !== undefined && (lag === 0 || number <= (await chain.head()) - lag);
    if (known) return { kind: "forward", call, check };
    return emptyForUnknownBlock ? { kind: "answer", result: [] } : refuse(words().unknownBlock, {});
  }

  /** Refuses an answer with too many logs, with the range that would fit where the provider names one. */
  function checkResults(body: Buffer, first: number, last: number): Verdict | undefined {
    const { results } = settings();
    if (results === null || countIn(body, '"logIndex"') <= results) return undefined;
    const logs: unknown = asRecord(JSON.parse(body.toString("utf8")))?.["result"];
    const next: unknown = Array.isArray(logs) ? logs[results] : undefined;
    const overflow = parseQuantity(asRecord(next)?.["blockNumber"]) ?? last;
    const fitting = Math.max(first, overflow - 1);
    return refuse(words().results, {
      ...rangeValues(first, fitting, fitting - first + 1),
      limit: results,
    });
  }

  async function planState(call: Call, position: number, lag: number): Promise<Plan> {
    const { stateBlocks } = settings();
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
    if (lag > 0 && number > head) return refuse(words().unknownBlock, {});
    if (stateBlocks !== null && number <= head - stateBlocks) {
      return refuse(words().pruned, { hash: `${number}`.padStart(64, "0"), blocks: stateBlocks });
    }
    const altered = lag > 0 && record === undefined;
    return {
      kind: "forward",
      call: altered ? withParam(call, position, toQuantity(number)) : call,
    };
  }

  async function planBlock(call: Call, lag: number): Promise<Plan> {
    const [parameter] = call.params;
    if (typeof parameter === "string" && parameter.length === 66) return checkNumber(call, lag);
    const number = await chain.resolve(parameter, lag);
    if (number === undefined) return { kind: "forward", call };
    if (number > (await chain.head()) - lag) return { kind: "answer", result: null };
    return { kind: "forward", call: withParam(call, 0, toQuantity(number)) };
  }

  /** Answers null for a block, transaction or receipt above the replica's head. */
  async function checkNumber(call: Call, lag: number): Promise<Plan> {
    const head = (await chain.head()) - lag;
    const field = call.method === "eth_getBlockByHash" ? "number" : "blockNumber";
    return {
      kind: "forward",
      call,
      check: (body) =>
        (quantityIn(body, field) ?? 0) > head ? { kind: "answer", result: null } : undefined,
    };
  }

  return {
    plan: async (call, lag) => {
      const { method } = call;
      if (method === "eth_getLogs") return planLogs(call, lag);
      const position = STATE_METHODS[method];
      if (position !== undefined) return planState(call, position, lag);
      if (lag === 0) return { kind: "forward", call };
      if (method === "eth_blockNumber") {
        return { kind: "answer", result: toQuantity((await chain.head()) - lag) };
      }
      if (BLOCK_METHODS.includes(method)) return planBlock(call, lag);
      if (/^eth_get(BlockByHash|TransactionReceipt|TransactionByHash)$/.test(method)) {
        return checkNumber(call, lag);
      }
      return { kind: "forward", call };
    },
  };
}

/** Every value that a refusal about a range may name. */
function rangeValues(first: number, last: number, limit: number): RefusalValues {
  return {
    first,
    last: limit > 0 ? Math.min(last, first + limit - 1) : last,
    from: toQuantity(first),
    to: toQuantity(limit > 0 ? Math.min(last, first + limit - 1) : last),
    range: last - first + 1,
    limit,
    grouped: limit.toLocaleString("en-US"),
    thousands: Math.round(limit / 1000),
  };
}

function withParam(call: Call, position: number, value: unknown): Call {
  const params = [...call.params];
  params[position] = value;
  return { ...call, params };
}

function withRange(call: Call, filter: object, first: number, last: number): Call {
  return withParam(call, 0, { ...filter, fromBlock: toQuantity(first), toBlock: toQuantity(last) });
}

/** Reads the heights of the node's chain. */
function createChainReader(upstream: Upstream, nowMs: () => number) {
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
    /** Returns the number of a block by its hash; undefined if the node does not know it. */
    numberOf: async (hash: unknown): Promise<number | undefined> => {
      const known = numbers.get(hash);
      if (known !== undefined) return known;
      const number = await numberOfBlock("eth_getBlockByHash", hash);
      if (number === undefined) return undefined;
      if (numbers.size >= HASHES_MAX) numbers.clear();
      numbers.set(hash, number);
      return number;
    },
    /** Returns the height that a tag or a quantity means to a replica; undefined for one that the node has to refuse. */
    resolve: async (tag: unknown, lag: number): Promise<number | undefined> => {
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
