/**
 * Checks of the abilities of an EVM node: whether it can follow its chain with this configuration, and has the methods and
 * the history that the service reads. Measured with about 60 small requests through the code of the scanner.
 */
import type { ChainInspector } from "../chains/inspector.ts";
import type { MeasuredBlocks, MeasuredRange } from "../chains/node-measures.ts";
import { type EvmChain, isLocal } from "../config/index.ts";
import { type Check, type Finding, judge, ok, once, skip } from "../core/check.ts";
import { OperatingError } from "../core/errors.ts";
import { isNative } from "../core/hex.ts";
import { nameOf, type NodeOf } from "./facts.ts";

const LATENCY_WARNING_MS = 1_000;
/** New blocks that are read to measure the node. */
const NEW_BLOCKS = 16n;
/** Final blocks that are read by ranges of logs. */
const FINAL_BLOCKS = 500n;
/** Searches with fewer blocks need too many requests for the logs of weeks. */
const RANGE_MIN = 500n;
/** The scanner reads blocks this close to the newest final one like new ones. */
const FINAL_MARGIN = 64n;
/** Blocks over which the pace of the chain is measured. */
const PACE_BLOCKS = 1_000n;
const HOUR_S = 3_600;
const DAY_S = 86_400;
/** An outage of an hour should be read in less than this. */
const BACKFILL_WARNING_S = 900;
/** Requests per new block: header, logs, and the shares of finality and idle polls (`scanner/requests.test.ts`). */
const REQUESTS_PER_BLOCK = 2.2;
/** A lock can stay open for 72 hours, and its transactions are read until then. */
const RECEIPTS_S = 72 * HOUR_S;

type EvmNode = NodeOf<ChainInspector>;

/** The measured pace of a chain, and of a node that reads it. */
interface Measured {
  readonly head: bigint;
  readonly final: bigint;
  readonly blocksPerSecond: number;
  readonly blocks: MeasuredBlocks;
}

/** Returns the checks of one node. Only the nodes of the scanner have to keep pace. */
export function checkEvmAbilities(
  chain: EvmChain,
  node: EvmNode,
  identified: Check,
): readonly Check[] {
  const needs = [identified];
  const { inspector } = node;
  const of = (id: string, run: Check["run"]): Check => ({ id, ...nameOf(node), needs, run });
  const measure = once(() => measureNode(chain, node));
  const measureRange = once(() => measureLogRange(node));
  const scanning = [
    of("node.pace", async () => judgePace(chain, await measure())),
    of("node.batches", async () => describeBatches(await measure())),
    of("node.rate", async () => judgeRate(node, await measure())),
    of("node.backfill", async () => judgeBackfill(chain, node, await measure(), measureRange)),
  ];
  const latency = of("node.latency", async () => judgeLatency(await inspector.measureLatency()));
  const receipts = of("node.receipts", () => judgeReceipts(chain, node));
  // A witness confirms block hashes and receipts, and nothing else.
  if (node.node.role === "witness") return [latency, receipts];
  return [
    latency,
    ...(node.isOurs ? scanning : []),
    of("node.log-range", async () => judgeRange(await measureRange())),
    of("node.state", () => judgeState(node)),
    receipts,
    ...(waitsForSafe(chain) ? [of("node.safe", () => judgeSafe(node))] : []),
    ...(node.isOurs && chain.traces ? [of("node.traces", () => judgeTraces(node))] : []),
  ];
}

/** Judges the median duration of small requests, in milliseconds. */
export function judgeLatency(latencyMs: number): Finding {
  return judge(latencyMs <= LATENCY_WARNING_MS, {
    found: `${formatMs(latencyMs)}, the median of small requests`,
    expected: `at most ${LATENCY_WARNING_MS} ms`,
    advice: "Use a node nearer to this machine, or one with less load.",
    otherwise: "warning",
  });
}

/** Reads the newest blocks as the scanner does. After refusals for the rate once more, at the rate that was learned. */
async function measureNode({ tokens }: EvmChain, { inspector }: EvmNode): Promise<Measured> {
  const newest = await inspector.getHead("latest");
  const { number: final } = await inspector.getHead("final");
  const head = newest.number;
  const count = Number(min(head, NEW_BLOCKS));
  if (count === 0) return { head, final, blocksPerSecond: 0, blocks: NOTHING };
  const far = min(head, PACE_BLOCKS);
  const spanS = newest.timestamp - (await inspector.getTimestamp(head - far));
  const section = {
    first: head - BigInt(count) + 1n,
    count,
    tokens: tokens.map(({ address }) => address),
    isFinal: false,
  };
  const first = await inspector.measureBlocks(section);
  const blocks = first.rateRefusals > 0 ? await inspector.measureBlocks(section) : first;
  return {
    head,
    final,
    blocksPerSecond: Number(far) / Math.max(1, Number(spanS)),
    blocks: {
      ...blocks,
      batch: Math.max(first.batch, blocks.batch),
      rateRefusals: first.rateRefusals,
    },
  };
}

const NOTHING: MeasuredBlocks = {
  blocks: 0,
  durationMs: 0,
  requests: 0,
  bytes: 0,
  batch: 1,
  isBatchRefused: false,
  rateRefusals: 0,
};

function judgePace(chain: EvmChain, { blocks, blocksPerSecond }: Measured): Finding {
  const expected = `at least twice the chain's pace of ${formatRate(blocksPerSecond)} blocks/s`;
  if (blocks.blocks === 0) return skip("the chain has no blocks yet", expected);
  const speed = speedOf(blocks);
  const kilobytes = Math.ceil(blocks.bytes / blocks.blocks / 1_000);
  const subject = hasCoin(chain) ? "blocks with the native coin" : "blocks";
  return judge(speed >= 2 * blocksPerSecond || isLocal(chain), {
    found: `reads ${formatRate(speed)} ${subject}/s, ${kilobytes} kB each`,
    expected,
    advice:
      speed >= blocksPerSecond
        ? "Use a faster node: this one barely keeps pace, and can hardly catch up after an outage."
        : "Use a faster node or a larger plan: this one falls ever further behind the chain.",
    otherwise: speed >= blocksPerSecond ? "warning" : "problem",
  });
}

function describeBatches({ blocks: { batch, isBatchRefused, blocks } }: Measured): Finding {
  const expected = "any: the service adapts to it";
  if (blocks === 0) return skip("the chain has no blocks yet", expected);
  if (batch === 1) return ok(isBatchRefused ? "no batches" : "not needed", expected);
  return ok(
    `batches of ${isBatchRefused ? `at most ${batch * 2 - 1}` : `${batch} or more`}`,
    expected,
  );
}

function judgeRate({ node }: EvmNode, { blocks, blocksPerSecond }: Measured): Finding {
  const needed = blocksPerSecond * REQUESTS_PER_BLOCK;
  const perDay = needed * DAY_S;
  const expected = `at least ${formatRate(needed)} requests/s and ${formatCount(perDay)} a day`;
  if (blocks.blocks === 0) return skip("the chain has no blocks yet", expected);
  const { requestsPerSecond = Infinity, requestsPerDay = Infinity } = node;
  const reached = blocks.requests / (blocks.durationMs / 1_000);
  const measured =
    blocks.rateRefusals > 0
      ? `accepts about ${formatRate(reached)} requests/s`
      : `accepts ${formatRate(reached)} requests/s or more`;
  const limits = [
    ...(Number.isFinite(requestsPerSecond) ? [`requestsPerSecond ${requestsPerSecond}`] : []),
    ...(Number.isFinite(requestsPerDay) ? [`requestsPerDay ${requestsPerDay}`] : []),
  ];
  const isEnough =
    requestsPerSecond >= needed &&
    requestsPerDay >= perDay &&
    (blocks.rateRefusals === 0 || reached >= needed);
  return judge(isEnough, {
    found: [measured, ...limits].join(", "),
    expected,
    advice:
      "Use a larger plan and raise its limits in the configuration: with this one, the scanner falls behind.",
  });
}

/** Estimates the time to read an hour of blocks: those that are not final like new ones, the others by ranges of logs. */
async function judgeBackfill(
  chain: EvmChain,
  { inspector }: EvmNode,
  { head, final, blocksPerSecond, blocks }: Measured,
  measureRange: () => Promise<MeasuredRange | null>,
): Promise<Finding> {
  const expected = `an hour of blocks in at most ${BACKFILL_WARNING_S / 60} min`;
  if (blocks.blocks === 0) return skip("the chain has no blocks yet", expected);
  const hour = HOUR_S * blocksPerSecond;
  const unfinal = Math.min(hour, Number(head - final + FINAL_MARGIN));
  const last = final - FINAL_MARGIN;
  const range = await measureRange();
  // With a small range, fewer blocks say as much, and cost fewer requests.
  const count = min(last, range?.isLimited ? min(FINAL_BLOCKS, range.blocks * 10n) : FINAL_BLOCKS);
  const isByLogs = !hasCoin(chain) && count > 0n && unfinal < hour;
  const finalSpeed = isByLogs
    ? speedOf(
        await inspector.measureBlocks({
          first: last - count + 1n,
          count: Number(count),
          tokens: chain.tokens.map(({ address }) => address),
          isFinal: true,
        }),
      )
    : speedOf(blocks);
  const seconds = Math.ceil(unfinal / speedOf(blocks) + (hour - unfinal) / finalSpeed);
  return judge(seconds <= BACKFILL_WARNING_S || isLocal(chain), {
    found: `an hour of blocks (${formatCount(hour)}) in about ${formatSeconds(seconds)}`,
    expected,
    advice:
      "Use a faster node, a larger plan or one with wider ranges of logs: deposits of an outage are found that late.",
    otherwise: "warning",
  });
}

/** Returns the blocks of a search for logs; null on a chain without final blocks. */
async function measureLogRange({ inspector }: EvmNode): Promise<MeasuredRange | null> {
  const { number: final } = await inspector.getHead("final");
  if (final === 0n) return null;
  const count = min(final, 10_000n);
  return inspector.measureLogRange({ first: final - count + 1n, last: final });
}

function judgeRange(range: MeasuredRange | null): Finding {
  const expected = `at least ${RANGE_MIN} blocks`;
  if (range === null) return skip("the chain has no final blocks yet", expected);
  const { blocks, isLimited } = range;
  return judge(!isLimited || blocks >= RANGE_MIN, {
    found: `searches ${formatCount(Number(blocks))} blocks${isLimited ? "" : " or more"} for logs`,
    expected,
    advice:
      "Use a plan with wider ranges: searches for deliveries, locks and missed blocks take one request for each range.",
    otherwise: "warning",
  });
}

async function judgeState({ inspector }: EvmNode): Promise<Finding> {
  const { number } = await inspector.getHead("final");
  return judgeAnswer(() => inspector.readStateAt(number), {
    found: `the state of final block ${number}, by its hash`,
    expected: "the state of the newest final block, by its hash (EIP-1898)",
    advice: "Use a node that keeps the state at least back to the newest final block.",
    otherwise: "problem",
  });
}

/** Reports whether a tier of the chain's early payouts waits for the safe block. */
function waitsForSafe({ earlyPayouts }: EvmChain): boolean {
  const lists = [earlyPayouts, ...(earlyPayouts?.exceptions ?? [])];
  return lists.some((list) => list?.tiers.some(({ after }) => after === "safe"));
}

async function judgeSafe({ inspector }: EvmNode): Promise<Finding> {
  const expected = "a safe block from the final block to the head";
  const advice = "Use a node that knows the tag `safe`, or give the tier a number of blocks.";
  // The final block first and the head last: what moves meanwhile hides nothing.
  const final = await inspector.getHead("final");
  const safe = await readOrNull(() => inspector.getSafeHead());
  const newest = await inspector.getHead("latest");
  if (safe === null) return judge(false, { found: "no safe block", expected, advice });
  return judge(safe.number >= final.number && safe.number <= newest.number, {
    found: `safe block ${safe.number} of ${final.number} to ${newest.number}`,
    expected,
    advice,
  });
}

/** Returns what a node answers; null where it gives no usable answer. */
async function readOrNull<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof OperatingError) return null;
    throw error;
  }
}

async function judgeReceipts(chain: EvmChain, { inspector }: EvmNode): Promise<Finding> {
  const expected = "receipts of blocks that are 72 hours old";
  const newest = await inspector.getHead("latest");
  const far = min(newest.number, PACE_BLOCKS);
  if (far === 0n) return skip("the chain has no blocks yet", expected);
  const spanS = newest.timestamp - (await inspector.getTimestamp(newest.number - far));
  const back = (far * BigInt(RECEIPTS_S)) / max(1n, spanS);
  const start = max(1n, BigInt(chain.startBlock));
  const height = min(newest.number, max(start, newest.number - back));
  return judgeAnswer(
    async () => {
      const isThere = await inspector.readReceiptAfter(height);
      return isThere ? undefined : `no transaction from block ${height} on`;
    },
    {
      found: `the receipts of block ${height}`,
      expected,
      advice: "Use a node that keeps the receipts of the last days.",
      otherwise: "warning",
    },
  );
}

async function judgeTraces({ inspector }: EvmNode): Promise<Finding> {
  const { number } = await inspector.getHead("latest");
  return judgeAnswer(() => inspector.traceBlock(number), {
    found: `the traces of block ${number}`,
    expected: "debug_traceBlockByHash, as traces is on",
    advice:
      "Use a node with traces, or set traces to false: native coin that contracts pay is then found when it is final.",
    otherwise: "warning",
  });
}

/** Runs a read that a node may be unable to answer. */
async function judgeAnswer(
  read: () => Promise<string | undefined | void>,
  args: Parameters<typeof judge>[1],
): Promise<Finding> {
  try {
    const instead = await read();
    return instead === undefined ? judge(true, args) : skip(instead, args.expected);
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    const reason = error.details?.["reason"];
    return judge(false, { ...args, found: `no answer (${String(reason ?? error.code)})` });
  }
}

function hasCoin({ tokens }: EvmChain): boolean {
  return tokens.some(({ address }) => isNative(address));
}

function speedOf({ blocks, durationMs }: MeasuredBlocks): number {
  return blocks / Math.max(0.001, durationMs / 1_000);
}

function formatMs(ms: number): string {
  return ms < 1 ? "less than 1 ms" : `${Math.round(ms)} ms`;
}

/** Formats a rate with two digits that say something. */
function formatRate(perSecond: number): string {
  return perSecond >= 10 ? String(Math.floor(perSecond)) : perSecond.toPrecision(2);
}

function formatCount(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}

function formatSeconds(seconds: number): string {
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}

function min(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

function max(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
