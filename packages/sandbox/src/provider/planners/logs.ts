/** `eth_getLogs` behind a provider: its limits on range, results and addresses, and replicas that lack the newest blocks. */
import { asRecord } from "../../json-file.ts";
import { type Call, countIn, parseQuantity, toQuantity } from "../json-rpc.ts";
import { profileOf } from "../profiles.ts";
import type { RefusalValues } from "../refusal.ts";
import type { ProviderSettings } from "../settings.ts";
import type { ChainReader } from "./chain-reader.ts";
import { type Plan, refuse, type Verdict, withParam } from "./plan.ts";

/** Plans a call of `eth_getLogs` for a replica that is `lag` blocks behind. */
export async function planLogs(
  chain: ChainReader,
  settings: ProviderSettings,
  call: Call,
  lag: number,
): Promise<Plan> {
  const { words } = profileOf(settings.profile);
  const filter = asRecord(call.params[0]) ?? {};
  const { address, blockHash } = filter;
  if (settings.logsNeedAddress && (address === undefined || address === null)) {
    return refuse(words.address, {});
  }
  if (blockHash !== undefined) return planLogsOfBlock(chain, settings, call, { blockHash, lag });
  const first = await chain.resolve(filter["fromBlock"], lag);
  const last = await chain.resolve(filter["toBlock"], lag);
  if (first === undefined || last === undefined) return { kind: "forward", call };
  const { rangeBlocks } = settings;
  const values = rangeValues(first, last, rangeBlocks ?? 0);
  if (rangeBlocks !== null && last - first + 1 > rangeBlocks) return refuse(words.range, values);
  const check = (body: Buffer) => checkResults(settings, body, first, last);
  if (lag === 0) return { kind: "forward", call, check };
  const head = (await chain.head()) - lag;
  if (last > head && words.beyondHead !== null) {
    return refuse(words.beyondHead, { ...values, head });
  }
  if (first > head) return { kind: "answer", result: [] };
  return { kind: "forward", call: withRange(call, filter, first, Math.min(last, head)), check };
}

async function planLogsOfBlock(
  chain: ChainReader,
  settings: ProviderSettings,
  call: Call,
  { blockHash, lag }: { readonly blockHash: unknown; readonly lag: number },
): Promise<Plan> {
  const { emptyForUnknownBlock } = settings;
  const check = (body: Buffer) => checkResults(settings, body, 0, 0);
  if (lag === 0 && !emptyForUnknownBlock) return { kind: "forward", call, check };
  const number = await chain.numberOf(blockHash);
  const known = number !== undefined && (lag === 0 || number <= (await chain.head()) - lag);
  if (known) return { kind: "forward", call, check };
  return emptyForUnknownBlock
    ? { kind: "answer", result: [] }
    : refuse(profileOf(settings.profile).words.unknownBlock, {});
}

/** Refuses an answer with too many logs, with the range that would fit where the provider names one. */
function checkResults(
  { results, profile }: ProviderSettings,
  body: Buffer,
  first: number,
  last: number,
): Verdict | undefined {
  if (results === null || countIn(body, '"logIndex"') <= results) return undefined;
  const logs: unknown = asRecord(JSON.parse(body.toString("utf8")))?.["result"];
  const next: unknown = Array.isArray(logs) ? logs[results] : undefined;
  const overflow = parseQuantity(asRecord(next)?.["blockNumber"]) ?? last;
  const fitting = Math.max(first, overflow - 1);
  const values = rangeValues(first, fitting, fitting - first + 1);
  return refuse(profileOf(profile).words.results, { ...values, limit: results });
}

/** Returns every value that a refusal about a range may name; 0 for no limit. */
function rangeValues(first: number, last: number, limit: number): RefusalValues {
  const suggested = limit > 0 ? Math.min(last, first + limit - 1) : last;
  return {
    first,
    last: suggested,
    from: toQuantity(first),
    to: toQuantity(suggested),
    range: last - first + 1,
    limit,
    grouped: limit.toLocaleString("en-US"),
    thousands: Math.round(limit / 1000),
  };
}

function withRange(call: Call, filter: object, first: number, last: number): Call {
  return withParam(call, 0, { ...filter, fromBlock: toQuantity(first), toBlock: toQuantity(last) });
}
