/** Judges an HTTP answer: answers of the node, a refusal of a batch, or none, with a short reason of ours. */
import { type Answers, type Decode, type NodeAnswer, parseAnswers } from "./json-rpc.ts";
import { type Packed, UnusableBody } from "./packed.ts";
import type { Posted } from "./post.ts";
import { isRateError } from "./rate-errors.ts";
import type { Outcome, RateLimited } from "./traffic.ts";

export type Received =
  | {
      readonly kind: "answers";
      /** In the order of the requests; undefined without an answer. */
      readonly answers: readonly (NodeAnswer | undefined)[];
      /** Set if some of the requests were refused because they were too many. */
      readonly limited: RateLimited | null;
    }
  /** The node takes no batches, or none of this size. */
  | { readonly kind: "batch_refused"; readonly limited: null }
  | {
      readonly kind: "none";
      readonly outcome: Outcome;
      readonly reason: string;
      readonly cause: unknown;
      readonly limited: RateLimited | null;
      /** Whether the same request may be answered at once: a dropped connection, an error in front of the node. */
      readonly passes: boolean;
    };

/** HTTP statuses of servers that do not take a batch. Others say nothing about its size. */
const BATCH_REFUSALS: ReadonlySet<number> = new Set([400, 404, 405, 413, 414, 415, 422, 501]);
const TOO_MANY_REQUESTS = 429;
const UNAVAILABLE = 503;

/** The requests of one HTTP request. */
interface Sent {
  readonly count: number;
  readonly firstId: number;
  readonly decode: Decode;
}

/** Judges the outcome of an HTTP request with `count` requests, of which the first has the id `firstId`. */
export async function readPosted(posted: Posted, sent: Sent): Promise<Received> {
  if (posted.kind === "failed") return none(outcomeOfFailure(posted.reason), posted);
  const { status, retryAfter, body } = posted;
  if (status === TOO_MANY_REQUESTS) return rateLimited(retryAfter);
  const isBatch = sent.count > 1;
  const parsed = await decodeAnswers(body, sent);
  if (parsed instanceof UnusableBody) return none(outcomeOfFailure(parsed.reason), parsed);
  // An error of the node counts under any status: many servers send it with 400 or 500.
  if (parsed.kind === "answers") return judgeAnswers(parsed.answers, { isBatch, retryAfter });
  if (parsed.kind === "refused") {
    return isRateError(parsed.error) ? rateLimited(retryAfter) : BATCH_REFUSED;
  }
  const isOk = status >= 200 && status < 300;
  if (isBatch && (isOk || BATCH_REFUSALS.has(status))) return BATCH_REFUSED;
  if (isOk) return none("malformed", { reason: "malformed answer" });
  const limited = status === UNAVAILABLE && retryAfter !== null ? { retryAfter } : null;
  return { ...none("http_error", { reason: `http ${status}` }), limited, passes: status >= 500 };
}

async function decodeAnswers(body: Packed, sent: Sent): Promise<Answers | UnusableBody> {
  let decoded: unknown;
  try {
    decoded = await sent.decode(body);
  } catch (error) {
    if (error instanceof UnusableBody) return error;
    // Servers in front of a node answer in HTML.
    return { kind: "malformed" };
  }
  return parseAnswers(decoded, sent);
}

function judgeAnswers(
  given: readonly (NodeAnswer | undefined)[],
  { isBatch, retryAfter }: { readonly isBatch: boolean; readonly retryAfter: string | null },
): Received {
  const isOfRate = (answer: NodeAnswer | undefined) =>
    answer !== undefined && !answer.ok && isRateError(answer);
  const isOfBatch = (answer: NodeAnswer | undefined) =>
    answer !== undefined && !answer.ok && /\bbatch/i.test(answer.message);
  if (given.every(isOfRate)) return rateLimited(retryAfter);
  // Some nodes refuse the batch by one error, in the name of its first request or of none.
  const answered = given.filter((answer) => answer !== undefined);
  if (isBatch && answered.every(isOfBatch)) return BATCH_REFUSED;
  return {
    kind: "answers",
    answers: given.map((answer) => (isOfRate(answer) ? undefined : answer)),
    limited: given.some(isOfRate) ? { retryAfter } : null,
  };
}

/** Returns the outcome of one of the requests. */
export function outcomeOf(received: Received, index: number): Outcome {
  if (received.kind === "none") return received.outcome;
  if (received.kind === "batch_refused") return "node_error";
  const answer = received.answers[index];
  if (answer === undefined) return received.limited ? "rate_limited" : "malformed";
  return answer.ok ? "ok" : "node_error";
}

const BATCH_REFUSED: Received = { kind: "batch_refused", limited: null };

function rateLimited(retryAfter: string | null): Received {
  return { ...none("rate_limited", { reason: "rate limited" }), limited: { retryAfter } };
}

function none(
  outcome: Outcome,
  { reason, cause }: { readonly reason: string; readonly cause?: unknown },
) {
  return {
    kind: "none",
    outcome,
    reason,
    cause,
    limited: null,
    passes: outcome === "unreachable",
  } as const;
}

function outcomeOfFailure(reason: string): Outcome {
  if (reason === "timeout") return "timeout";
  if (reason === "malformed answer") return "malformed";
  return reason === "answer too large" ? "too_large" : "unreachable";
}
