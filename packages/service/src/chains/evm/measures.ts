/** Measures one EVM node with few requests, through the code with which the scanner reads. */
import type { EvmMeasures, MeasuredBlocks } from "../node-measures.ts";
import { type Exchange, type NodeTraffic, UNLIMITED } from "../rpc/traffic.ts";
import {
  type BlockAnswer,
  parseBlock,
  parseTxHashes,
  parseOutcome,
  parseQuantity,
} from "./answers.ts";
import { toQuantity } from "./calls.ts";
import type { EvmContracts } from "./contracts.ts";
import { createLogRange, listLogsInRange } from "./log-range.ts";
import { OUTFLOW_TOPICS } from "./outflows.ts";
import { getNativeBalance } from "./reader.ts";
import { createRpc, type Rpc } from "./rpc.ts";
import { createSectionReader, RANGE_MAX } from "./sections.ts";
import { createTraceReader } from "./traces.ts";

/** Requests of which the median counts; the first one opens the connection and does not. */
const LATENCY_REQUESTS = 5;
/** Blocks that are searched for a transaction. */
const RECEIPT_BLOCKS = 5n;

export interface EvmMeasuresOptions {
  /** Bridge chain id. */
  readonly chainId: number;
  /** EIP-155 chain id. */
  readonly evmChainId: number;
  /** May contain credentials; never shown. */
  readonly rpcUrl: string;
  /** Per request, including the body. */
  readonly timeoutMs: number;
  readonly contracts: EvmContracts;
  /** The limits of the node; none by default. */
  readonly traffic?: NodeTraffic | undefined;
}

/** Returns the measurements of a node. */
export function createEvmMeasures(options: EvmMeasuresOptions): EvmMeasures {
  const { contracts, evmChainId } = options;
  let seen: Exchange[] = [];
  const traffic = recordExchanges(options.traffic ?? UNLIMITED, (exchange) => seen.push(exchange));
  const rpc = createRpc({ ...options, traffic });
  const readSection = createSectionReader(rpc, { contracts, evmChainId });
  const readTraces = createTraceReader(rpc);

  return {
    async measureLatency() {
      const ask = () => rpc.ask("eth_blockNumber", [], parseQuantity);
      await ask();
      const durations: number[] = [];
      for (let request = 0; request < LATENCY_REQUESTS; request++) {
        const startMs = performance.now();
        await ask();
        durations.push(performance.now() - startMs);
      }
      return durations.toSorted((one, other) => one - other)[(LATENCY_REQUESTS - 1) / 2] ?? 0;
    },

    async measureBlocks({ first, count, tokens, isFinal }) {
      seen = [];
      const startMs = performance.now();
      const section = await readSection({
        after: first - 1n,
        max: count,
        isFinal,
        isOld: isFinal,
        tokens,
        choose: async () => new Set(),
      });
      if (!section) throw rpc.unavailable("block not found");
      // A section of final blocks lists only those in which something happened.
      const blocks = isFinal ? count : section.blocks.length;
      return summarize(seen, { blocks, durationMs: performance.now() - startMs });
    },

    async measureLogRange({ first, last }) {
      const range = createLogRange({ first: RANGE_MAX, most: RANGE_MAX });
      const { through } = await listLogsInRange(
        rpc,
        { from: first, to: last, address: contracts.escrow, topics: [OUTFLOW_TOPICS] },
        range,
      );
      const blocks = through - first + 1n;
      const wanted = last - first + 1n < RANGE_MAX ? last - first + 1n : RANGE_MAX;
      return { blocks, isLimited: blocks < wanted };
    },

    async readStateAt(height) {
      const block = await getBlock(rpc, height);
      await getNativeBalance(rpc, contracts.escrow, block);
    },

    async readReceiptAfter(height) {
      for (let number = height; number < height + RECEIPT_BLOCKS; number++) {
        const block = await getBlock(rpc, number);
        const hashes = await rpc.ask("eth_getBlockByHash", [block.hash, false], parseTxHashes);
        if (hashes === null) throw rpc.unavailable("block not found");
        const [txHash] = hashes;
        if (txHash === undefined) continue;
        const receipt = await rpc.ask("eth_getTransactionReceipt", [txHash], parseOutcome);
        if (receipt?.blockHash !== block.hash) throw rpc.unavailable("receipt not found");
        return true;
      }
      return false;
    },

    async traceBlock(height) {
      const traces = await readTraces(await getBlock(rpc, height));
      if (traces === null) throw rpc.unavailable("no traces");
    },
  };
}

async function getBlock(rpc: Rpc, height: bigint): Promise<BlockAnswer> {
  const block = await rpc.ask("eth_getBlockByNumber", [toQuantity(height), false], parseBlock);
  if (block === null) throw rpc.unavailable("block not found");
  return block;
}

/** Returns the same limits with a second observer. */
function recordExchanges(traffic: NodeTraffic, record: (exchange: Exchange) => void): NodeTraffic {
  return {
    now: () => traffic.now(),
    get batchMax() {
      return traffic.batchMax;
    },
    enter: (count, deadlineMs) => traffic.enter(count, deadlineMs),
    pause: (ms) => traffic.pause(ms),
    observe(exchange) {
      traffic.observe(exchange);
      record(exchange);
    },
  };
}

function summarize(
  exchanges: readonly Exchange[],
  read: Pick<MeasuredBlocks, "blocks" | "durationMs">,
): MeasuredBlocks {
  const outcomes = exchanges.flatMap(({ requests }) => requests.map(({ outcome }) => outcome));
  const isAnswered = ({ requests }: Exchange) => requests.every(({ outcome }) => outcome === "ok");
  const answered = exchanges.filter(isAnswered);
  return {
    ...read,
    requests: outcomes.filter((outcome) => outcome === "ok").length,
    bytes: exchanges.reduce((sum, { bytesReceived }) => sum + bytesReceived, 0),
    batch: Math.max(1, ...answered.map(({ requests }) => requests.length)),
    isBatchRefused: exchanges.some(
      ({ requests }) =>
        requests.length > 1 &&
        requests.some(({ outcome }) => outcome !== "ok" && outcome !== "rate_limited"),
    ),
    rateRefusals: outcomes.filter((outcome) => outcome === "rate_limited").length,
  };
}
