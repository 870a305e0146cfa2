/** Errors of nodes and providers, as they word them, and their meanings. */
import { describe, expect, test } from "vitest";
import { REFUSALS } from "../../../../sandbox/src/provider/profiles.ts";
import { renderError, type RefusalKind } from "../../../../sandbox/src/provider/refusal.ts";
import { isRateError, RATE_ERRORS } from "../rpc/rate-errors.ts";
import { classifyLimit, findLimit, isStateMissing, KNOWN_LIMITS, type Limit } from "./limits.ts";

/** An error, and its meaning with the number of blocks that it names. */
type Said = readonly [code: number, message: string, kind: Limit["kind"], blocks?: bigint];

const SAID: readonly Said[] = [
  // Results.
  [
    -32602,
    "Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0xc5dc00, 0xc614a7]",
    "too_many_results",
    14_504n,
  ],
  [
    -32000,
    "Query timeout exceeded. Consider reducing your block range. Based on your parameters and the response size limit, this block range should work: [0x5223c98, 0x5223e80]",
    "too_many_results",
    489n,
  ],
  [
    -32005,
    "query returned more than 10000 results. Try with this block range [0x10ad58b, 0x10ad5c1].",
    "too_many_results",
    55n,
  ],
  [
    -32602,
    "query exceeds max results 20000, retry with the range 50784086-50785570",
    "too_many_results",
    1_485n,
  ],
  [-32602, "query exceeds max results 20000", "too_many_results"],
  [-32000, "logs matched by query exceeds limit of 10000", "too_many_results"],
  [-32005, "query returned more than 10000 results", "too_many_results"],
  [-32000, "query returns too many logs, narrow your filter: 20000", "too_many_results"],
  // Ranges.
  [-32602, "range 1000000 exceeds limit of 10000", "range_too_wide", 10_000n],
  [-32602, "range 9009594 is bigger than range limit 2000", "range_too_wide", 2_000n],
  [-32005, "block range too large, max range: 1000", "range_too_wide", 1_000n],
  [
    -32000,
    "block range is larger than max block range, block range = 5120, max block range = 5000",
    "range_too_wide",
    5_000n,
  ],
  [
    -32000,
    "query block range exceeds server limit, narrow your filter: 1000",
    "range_too_wide",
    1_000n,
  ],
  [-32000, "block range is bigger than maxBlockRange", "range_too_wide"],
  [
    -32600,
    "Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x1180fca, 0x1180fd3]. Upgrade to PAYG for expanded block range.",
    "range_too_wide",
    10n,
  ],
  [-32614, "eth_getLogs is limited to a 10,000 range", "range_too_wide", 10_000n],
  [
    -32602,
    "eth_getLogs and eth_newFilter are limited to a 10,000 blocks range",
    "range_too_wide",
    10_000n,
  ],
  [-32614, "eth_getLogs is limited to a 5 range", "range_too_wide", 5n],
  [-32000, "eth_getLogs is limited to 0 - 10000 blocks range", "range_too_wide", 10_000n],
  [-32602, "eth_getLogs is limited to 1024 block range", "range_too_wide", 1_024n],
  [35, "ranges over 10000 blocks are not supported on freetier", "range_too_wide", 10_000n],
  [
    -32047,
    "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800",
    "range_too_wide",
    800n,
  ],
  [
    -32000,
    "requested too many blocks from 50331648 to 51380224, maximum is set to 2048",
    "range_too_wide",
    2_048n,
  ],
  [-32000, "Maximum allowed number of requested blocks is 1000", "range_too_wide", 1_000n],
  [-32701, "exceed maximum block range: 50000", "range_too_wide", 50_000n],
  [-32602, "query exceeds max block range 100000", "range_too_wide", 100_000n],
  [-32602, "please limit the query to at most 1000 blocks", "range_too_wide", 1_000n],
  [
    -32600,
    "block range exceeds the range allowed for your plan (5000 > 500)",
    "range_too_wide",
    500n,
  ],
  [-32000, "block range greater than 10000 max", "range_too_wide", 10_000n],
  [-32603, "block range is too wide (maximum 1024)", "range_too_wide", 1_024n],
  [-32000, "maximum [from, to] blocks distance: 2000", "range_too_wide", 2_000n],
  [-32600, "you can make requests with up to a 2,000 block range", "range_too_wide", 2_000n],
  [-32005, "block range exceeds limit", "range_too_wide"],
  [-32005, "Requested range exceeds maximum RPC range limit", "range_too_wide"],
  [
    -32005,
    "Block range limit exceeded. See more details at https://docs.chainstack.com/docs/limits#evm-range-limits",
    "range_too_wide",
  ],
  [-32600, "block range is too wide", "range_too_wide"],
  [-32000, "block range too large", "range_too_wide"],
  [-32012, "requested range too large", "range_too_wide"],
  [-32000, "eth_getLogs range is too large, max is 10k blocks", "range_too_wide"],
  // Sizes.
  [-32600, "Response size is larger than 150MB limit", "answer_too_large"],
  [-32020, "backend response too large", "answer_too_large"],
  [-32000, "response size should not greater than 10000000 bytes", "answer_too_large"],
  [-32008, "Response is too big", "answer_too_large"],
  [-32003, "response too large", "answer_too_large"],
  // State and history.
  [4444, "Pruned history unavailable", "pruned_state"],
  [-32000, "missing trie node 3c1a… (path ) state 0x3c1a… is not available", "pruned_state"],
  [-32000, "historical state 0xabc… is not available", "pruned_state"],
  [-32000, "state at block #123 is pruned", "pruned_state"],
  [-32000, "old data not available due to pruning", "pruned_state"],
  [-32000, "No state available for block 0xabc", "pruned_state"],
  [-32000, "World state unavailable", "pruned_state"],
  [-32602, "BlockOutOfRangeError: block height is 982 but requested was 564", "pruned_state"],
  [
    -32701,
    "Archive requests require a personal token. Get one at https://www.allnodes.com/publicnode",
    "pruned_state",
  ],
  // Methods.
  [
    -32601,
    "the method debug_traceBlockByHash does not exist/is not available",
    "unsupported_method",
  ],
  [-32004, "Method not supported", "unsupported_method"],
  [-32604, "Method not enabled", "unsupported_method"],
  [
    -32600,
    "debug_traceBlockByHash is not available on the Free tier - upgrade to Pay As You Go",
    "unsupported_method",
  ],
  [-32000, "the method eth_getBlockReceipts is not available", "unsupported_method"],
  // Blocks.
  [-32000, "header not found", "unknown_block"],
  [-39001, "Unknown block", "unknown_block"],
  [-32000, "finalized block not found", "unknown_block"],
  [-32602, "block range extends beyond current head block", "unknown_block"],
  [
    -32000,
    "One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found.",
    "unknown_block",
  ],
  [
    -32000,
    "requested block range [4096, 8192] is beyond latest executed block 4000 (node is still syncing)",
    "unknown_block",
  ],
  [-32019, "block is out of range", "unknown_block"],
  [-32000, "Block not found", "unknown_block"],
  [-32014, "block not yet imported", "unknown_block"],
  [-32001, "Resource not found.", "unknown_block"],
];

const RATES: readonly (readonly [code: number, message: string])[] = [
  [429, "Your app has exceeded its compute units per second capacity."],
  [-32429, "rate limited"],
  [402, "Payment Required"],
  [-32046, "Cannot fulfill request"],
  [-32605, "Too many requests were made"],
  [-32007, "50/second request limit reached - reduce calls per second or upgrade your account"],
  [-32005, "daily request count exceeded, request rate limited"],
  [-32005, "You've exceeded the RPS limit available on the current plan."],
  [-32016, "over rate limit"],
  [-32012, "backend is over capacity"],
  [-32000, "Your app has exceeded its throughput limit"],
  [15, "Too many request, try again later"],
  [-32000, "rate limit exceeded"],
];

describe("limits", () => {
  const said = SAID.map(([code, message, kind, blocks]) => ({ code, message, kind, blocks }));
  test.each(said)("$code $message", ({ code, message, kind, blocks }) => {
    const error = { code, message, data: undefined };
    expect(classifyLimit(error)).toEqual({ kind, ...(blocks !== undefined && { blocks }) });
    // The client would wait and send the request again.
    expect(isRateError(error)).toBe(false);
    expect(isStateMissing(error)).toBe(kind === "pruned_state");
  });

  test("every entry of the table is the meaning of one of these errors", () => {
    const found = SAID.map(([code, message]) => findLimit({ code, message, data: undefined }));
    expect(KNOWN_LIMITS.filter((known) => !found.includes(known))).toEqual([]);
  });

  test("no entry is without a source", () => {
    const sources = [...KNOWN_LIMITS, ...RATE_ERRORS].map(({ source }) => source);
    expect(sources.filter((source) => !/^https:\/\/\S+$/.test(source))).toEqual([]);
  });
});

describe("rates", () => {
  test.each(RATES)("%d %s", (code, message) => {
    const error = { code, message, data: undefined };
    expect(isRateError(error)).toBe(true);
    expect(classifyLimit(error)).toEqual({ kind: "rate_limited" });
  });

  test("every entry of the table recognises one of these errors", () => {
    const unused = RATE_ERRORS.filter(
      ({ code: only, text }) =>
        !RATES.some(([code, message]) => (only ?? code) === code && text.test(message)),
    );
    expect(unused).toEqual([]);
  });
});

/** Meanings of the sandbox's quotations, which the sandbox's provider answers with; null: nothing is concluded. */
const MEANINGS: Readonly<Record<RefusalKind, Limit["kind"] | null>> = {
  range: "range_too_wide",
  results: "too_many_results",
  size: "answer_too_large",
  timeout: null,
  rate: "rate_limited",
  quota: "rate_limited",
  batch: null,
  method: "unsupported_method",
  address: null,
  behind: "unknown_block",
  pruned: "pruned_state",
  skipped: null,
  unavailable: null,
};

/** BSC's public nodes serve no logs, and say so with the words of another limit. */
const MISLEADING = ["bsc-dataseed.method"];

describe("quoted refusals", () => {
  const refusals = REFUSALS.filter(({ id, code }) => code !== null && !id.startsWith("agave."));
  test.each(refusals.map((refusal) => ({ ...refusal })))("$id", (refusal) => {
    const { code, message, data } = renderError(refusal, refusal.sample);
    const meaning = MISLEADING.includes(refusal.id) ? null : MEANINGS[refusal.kind];
    expect(classifyLimit({ code, message, data })?.kind ?? null).toBe(meaning);
  });
});

test.each([
  [3, "execution reverted: rate limit exceeded"],
  [-32000, "execution reverted: header not found"],
  [-32015, "VM execution error: Reverted 0x08c379a0 too many requests"],
  [-32000, "nonce too low"],
  [-32000, "insufficient funds for gas * price + value"],
  [-32603, "internal error"],
])("says nothing about %d %s", (code, message) => {
  expect(classifyLimit({ code, message, data: undefined })).toBeNull();
});
