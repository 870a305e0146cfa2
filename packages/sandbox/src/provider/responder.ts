/** Answers messages as a provider: faults first, then limits, then the node's answer as a replica would give it. */
import { setTimeout as delay } from "node:timers/promises";
import type { Forks, ForkView } from "./forks.ts";
import {
  type Call,
  joinBatch,
  type Message,
  parseMessage,
  writeCall,
  writeError,
  writeResult,
} from "./json-rpc.ts";
import { type Plan, type Planner, refuse, type Refused, type Verdict } from "./planners/plan.ts";
import { profileOf } from "./profiles.ts";
import type { Random } from "./random.ts";
import type { RateLimit } from "./rate-limit.ts";
import { renderError, renderMessage } from "./refusal.ts";
import { isMissing, lagOfReplica, type ProviderSettings } from "./settings.ts";
import type { Counter } from "./stats.ts";
import type { Upstream } from "./upstream.ts";

/** An answer to a message, a dropped connection, or silence. */
export type Reply =
  | { readonly kind: "stall" }
  | {
      readonly kind: "drop";
      /** The answer whose first half is sent. */
      readonly half?: Buffer;
    }
  | {
      readonly kind: "reply";
      readonly status: number;
      readonly contentType: string;
      readonly retryAfterSeconds: number | null;
      readonly body: Buffer;
    };

export interface Responder {
  respond(body: string): Promise<Reply>;
  /** Waits as long as half a round trip. */
  travel(): Promise<void>;
}

interface Parts {
  readonly upstream: Upstream;
  readonly settings: () => ProviderSettings;
  readonly random: Random;
  readonly counter: Counter;
  readonly rate: RateLimit;
  readonly planner: Planner;
  readonly forks: Forks;
}

/** Random choices for a message, drawn when it arrives and always in the same order, so that a seed repeats them. */
interface Fate {
  readonly dropsBefore: boolean;
  readonly dropsAfter: boolean;
  readonly stalls: boolean;
  readonly isRateError: boolean;
  readonly html: boolean;
  readonly htmlPage: number;
  readonly replica: number;
  readonly halfTripMs: number;
}

export function createResponder(parts: Parts): Responder {
  const { settings, random, counter, forks } = parts;
  /** Calls since the start; a plan allows a certain number. */
  let spent = 0;

  function drawFate(): Fate {
    const { drop, stall, rateErrors, htmlErrors, replicas } = settings();
    const drops = random.happens(drop);
    const before = random.happens(0.5);
    return {
      dropsBefore: drops && before,
      dropsAfter: drops && !before,
      stalls: random.happens(stall),
      // Without the fault nothing is drawn, so that the other choices of a seed stay the same.
      isRateError: rateErrors > 0 && random.happens(rateErrors),
      html: random.happens(htmlErrors),
      htmlPage: random.below(HTML_ERRORS.length),
      replica: random.below(Math.max(1, replicas)),
      halfTripMs: drawHalfTripMs(),
    };
  }

  function drawHalfTripMs(): number {
    const { latencyMs, jitterMs } = settings();
    return (latencyMs + jitterMs * random.next()) / 2;
  }

  /** Drops the connection before the node sees the message, or in the middle of its answer. */
  function drop(reply?: Reply): Reply {
    counter.add("dropped", 1);
    return reply?.kind === "reply" ? { kind: "drop", half: reply.body } : { kind: "drop" };
  }

  async function respondIn(fate: Fate, body: string): Promise<Reply> {
    const message = parseMessage(body);
    if (message === undefined) {
      return json(writeError(null, { code: -32700, message: "parse error" }));
    }
    for (const call of message.calls) counter.count(call);
    spent += message.calls.length;
    const refused = fate.isRateError
      ? refuseRate(parts, message)
      : refuseMessage(parts, message, spent);
    await wait(fate.halfTripMs);
    if (fate.dropsBefore) return drop();
    if (fate.stalls) {
      counter.add("stalled", 1);
      return { kind: "stall" };
    }
    if (fate.html) {
      counter.add("htmlErrors", 1);
      await wait(fate.halfTripMs);
      return htmlError(fate.htmlPage);
    }
    if (refused !== undefined) {
      await wait(fate.halfTripMs);
      return refused;
    }
    const view = await forks.next();
    const lag = lagOfReplica(settings(), fate.replica);
    let reply = await answerMessage(parts, message, lag, view);
    if (view !== undefined && (await forks.isOver(view))) {
      reply = await answerMessage(parts, message, lag, undefined);
    }
    await wait(fate.halfTripMs);
    return fate.dropsAfter ? drop(reply) : reply;
  }

  return {
    respond: async (body) => {
      const fate = drawFate();
      counter.add("messages", 1);
      counter.add("bytesIn", Buffer.byteLength(body));
      counter.start();
      try {
        const reply = await respondIn(fate, body);
        if (reply.kind === "reply") counter.add("bytesOut", reply.body.length);
        return reply;
      } finally {
        counter.end();
      }
    },
    travel: () => wait(drawHalfTripMs()),
  };
}

async function wait(ms: number): Promise<void> {
  if (ms > 0) await delay(ms);
}

/** The errors of a proxy whose node does not answer: a page instead of JSON. */
const HTML_ERRORS = [
  "502 Bad Gateway",
  "503 Service Temporarily Unavailable",
  "504 Gateway Time-out",
];

function htmlError(index: number): Reply {
  const title = HTML_ERRORS[index] ?? "";
  const body = Buffer.from(
    `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n`,
  );
  const status = Number.parseInt(title, 10);
  return { kind: "reply", status, contentType: "text/html", retryAfterSeconds: null, body };
}

function json(body: Buffer, status = 200, retryAfterSeconds: number | null = null): Reply {
  return { kind: "reply", status, contentType: "application/json", retryAfterSeconds, body };
}

/** Refuses a whole message: its plan is spent, its batch is too large, or it exceeds the rate. */
function refuseMessage(parts: Parts, { batch, calls }: Message, spent: number): Reply | undefined {
  const { counter, rate } = parts;
  const settings = parts.settings();
  const { words } = profileOf(settings.profile);
  const { batchItems, quotaRequests, retryAfterSeconds } = settings;
  const ids = calls.map(({ id }) => id);
  const wholeIds = batch ? [null] : ids;
  if (quotaRequests !== null && spent > quotaRequests) {
    const refused = refuse(words.quota, rateValues(settings));
    return refuseAll(counter, refused, wholeIds, { array: false, retryAfterSeconds });
  }
  if (batch && batchItems !== null && calls.length > batchItems) {
    const refused = refuse(words.batch, { limit: batchItems, count: calls.length });
    const form = words.batchForm;
    const refusedIds = form === "each" ? ids : form === "first" ? ids.slice(0, 1) : [null];
    return refuseAll(counter, refused, refusedIds, {
      array: form !== "none",
      retryAfterSeconds: null,
    });
  }
  return rate.take(calls.length) ? undefined : refuseRate(parts, { batch, calls });
}

/** Refuses a whole message for the rate of requests. */
function refuseRate({ counter, settings: read }: Parts, { batch, calls }: Message): Reply {
  const settings = read();
  const { retryAfterSeconds } = settings;
  const refused = refuse(profileOf(settings.profile).words.rate, rateValues(settings));
  const ids = batch ? [null] : calls.map(({ id }) => id);
  return refuseAll(counter, refused, ids, { array: false, retryAfterSeconds });
}

function rateValues({ ratePerSecond, retryAfterSeconds }: ProviderSettings) {
  const rate = ratePerSecond ?? 0;
  const seconds = retryAfterSeconds ?? 1;
  return { rate, current: rate + 1, seconds, wait: `${seconds}s` };
}

/** Writes one refusal for some calls. */
function refuseAll(
  counter: Counter,
  { refusal, values }: Refused,
  ids: readonly Call["id"][],
  options: { readonly array: boolean; readonly retryAfterSeconds: number | null },
): Reply {
  const { array, retryAfterSeconds } = options;
  counter.refuse(refusal.id, ids.length);
  if (refusal.code === null) {
    const body = Buffer.from(renderMessage(refusal, values));
    const contentType = "text/plain";
    return { kind: "reply", status: refusal.status, contentType, retryAfterSeconds, body };
  }
  const error = renderError(refusal, values);
  const bodies = ids.map((id) =>
    refusal.bare === true ? Buffer.from(JSON.stringify(error)) : writeError(id, error),
  );
  const body = array ? joinBatch(bodies) : Buffer.concat(bodies);
  return json(body, refusal.status, retryAfterSeconds);
}

async function answerMessage(
  parts: Parts,
  { batch, calls }: Message,
  lag: number,
  view: ForkView | undefined,
): Promise<Reply> {
  const answers = await Promise.all(calls.map((call) => answerCall(parts, call, lag, view)));
  const [only] = answers;
  if (!batch && only !== undefined) return json(only.body, only.status);
  return json(joinBatch(answers.map(({ body }) => body)));
}

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

async function answerCall(
  parts: Parts,
  call: Call,
  lag: number,
  view: ForkView | undefined,
): Promise<Answer> {
  const { settings } = parts;
  const { words } = profileOf(settings().profile);
  if (isMissing(settings(), call.method)) {
    return write(parts, call, refuse(words.method, { method: call.method }));
  }
  const seen = withNodeHashes(call, view);
  if (seen === undefined) return write(parts, call, planOrphaned(parts, call));
  const plan = await parts.planner.plan(seen, lag);
  if (plan.kind !== "forward") return write(parts, call, plan);
  const { status, body } = await parts.upstream.send(writeCall(plan.call));
  const verdict = plan.check?.(body) ?? checkSize(settings(), body);
  if (verdict !== undefined) return write(parts, call, verdict);
  return { status, body: view === undefined ? body : view.toClient(body) };
}

/** Returns the call with the node's hashes in place of a fork's; undefined if it names an orphaned block. */
function withNodeHashes(call: Call, view: ForkView | undefined): Call | undefined {
  if (view === undefined) return call;
  const text = view.toNode(JSON.stringify(call.params));
  if (text === undefined) return undefined;
  const params: unknown = JSON.parse(text);
  return Array.isArray(params) ? { ...call, params } : call;
}

function planOrphaned({ settings }: Parts, { method }: Call): Verdict {
  const { words } = profileOf(settings().profile);
  if (method === "eth_getBlockByHash" || method === "eth_getBlockReceipts") {
    return { kind: "answer", result: null };
  }
  return method === "eth_getLogs" && settings().emptyForUnknownBlock
    ? { kind: "answer", result: [] }
    : refuse(words.unknownBlock, {});
}

function checkSize({ bodyBytes, profile }: ProviderSettings, body: Buffer): Verdict | undefined {
  if (bodyBytes === null || body.length <= bodyBytes) return undefined;
  return refuse(profileOf(profile).words.size, {
    bytes: bodyBytes,
    megabytes: Math.floor(bodyBytes / 1_000_000),
  });
}

function write({ counter }: Parts, { id }: Call, plan: Exclude<Plan, { kind: "forward" }>): Answer {
  if (plan.kind === "answer") return { status: 200, body: writeResult(id, plan.result) };
  const { refusal, values } = plan;
  counter.refuse(refusal.id, 1);
  return { status: refusal.status, body: writeError(id, renderError(refusal, values)) };
}
