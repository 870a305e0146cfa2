/** One JSON-RPC node over HTTP. Every answer is checked before use. */
import DataLoader from "dataloader";
import { assert } from "../../core/assert.ts";
import type { OperatingError } from "../../core/errors.ts";
import { createBatchSize } from "./batch-size.ts";
import { reasonOf, redactUrl, rpcUnavailable } from "./errors.ts";
import {
  type Decode,
  decodeJson,
  encodeRequests,
  type NodeAnswer,
  type NodeError,
  type RpcRequest,
} from "./json-rpc.ts";
import { sizeOf } from "./packed.ts";
import { afterThisTurn, createPost } from "./post.ts";
import { outcomeOf, readPosted, type Received } from "./received.ts";
import { type NodeTraffic, UNLIMITED, Withheld } from "./traffic.ts";

export type { NodeAnswer, NodeError, RpcRequest } from "./json-rpc.ts";

export interface Rpc {
  /** Bridge chain id. */
  readonly chainId: number;
  /**
   * Sends one request. Throws RPC_UNAVAILABLE without an answer; an error from the node is a value. `decode` replaces the
   * parser of JSON, for answers of megabytes.
   */
  call(method: string, params: readonly unknown[], decode?: Decode): Promise<NodeAnswer>;
  /**
   * Sends a request in one HTTP request with others of the same turn of the event loop, and once if they are the same. For
   * requests that take every node a short time: each of them waits for all.
   */
  share(method: string, params: readonly unknown[]): Promise<NodeAnswer>;
  /**
   * Sends several requests, in as few HTTP requests as the node accepts, and returns their answers in order. Throws
   * RPC_UNAVAILABLE if one of them has no answer.
   */
  batch(requests: readonly RpcRequest[]): Promise<NodeAnswer[]>;
  /** Sends one request and parses its result. Also throws RPC_UNAVAILABLE if the node returns an error or `parse` throws. */
  ask<T>(method: string, params: readonly unknown[], parse: (result: unknown) => T): Promise<T>;
  /** Parses a result. Throws RPC_UNAVAILABLE if `parse` throws, because a malformed answer is no answer. */
  read<T>(method: string, result: unknown, parse: (result: unknown) => T): T;
  /** Returns RPC_UNAVAILABLE for an error of the node, with a reason of ours for a known one. */
  refusal(method: string, error: NodeError): OperatingError;
  /** Returns RPC_UNAVAILABLE of this node with a short reason of ours. The cause is for the log, with the URL redacted. */
  unavailable(reason: string, cause?: unknown): OperatingError;
}

/** Reports whether the node, or its limits here, refused a request for the rate of requests. */
function isOfRate(error: unknown): boolean {
  return reasonOf(error) === "rate limited";
}

/** Requests of one turn of the event loop that are sent as one. */
export interface Merged {
  readonly request: RpcRequest;
  readonly members: readonly RpcRequest[];
  /** Returns the answer to each member; null if each is to be sent by itself. */
  separate(answer: NodeAnswer | Error): readonly NodeAnswer[] | null;
}

/** Chooses among the requests of a turn those that are sent as one. No request is in two of them. */
export type Merge = (requests: readonly RpcRequest[]) => readonly Merged[];

export interface RpcOptions {
  /** Bridge chain id. */
  readonly chainId: number;
  /** May carry credentials; never displayed. */
  readonly rpcUrl: string;
  /** Per HTTP request, including the body. */
  readonly timeoutMs: number;
  /** The limits of the node, shared by all its clients in the process; without them, none. */
  readonly traffic?: NodeTraffic | undefined;
  /** Returns a short reason for a known error of the node. */
  readonly explain?: (error: NodeError) => string | undefined;
  /** Reports whether `call` and `ask` share the HTTP request of a request, as `share` does. */
  readonly isShared?: (request: RpcRequest) => boolean;
  /** Merges shared requests; by default none. */
  readonly merge?: Merge;
  /** Reports whether an answer states that the server lacks a block which another server behind the URL may have. */
  readonly isBehind?: (request: RpcRequest, answer: NodeAnswer) => boolean;
}

/**
 * The longest that a request waits for its turn. A section of blocks is many requests at the same time, which wait for each
 * other where a node takes few of them per second.
 */
const WAIT_MAX_MS = 30_000;
/**
 * Pauses before a request is sent again after a failure that passes: a connection that was dropped, or an error of the server
 * in front of the node. A look of the scanner is many requests, and one of them must not end it.
 */
const FAILURE_PAUSES_MS: readonly number[] = [0, 200, 600];
/** Pauses before a request is sent again that met a server without its block. */
const BEHIND_PAUSES_MS: readonly number[] = [50, 100, 200, 300, 400, 600];
/** Requests that share an HTTP request. */
const SHARED_MAX = 20;
/** The longest that a request waits for those under way, to share the next one. */
const GATHER_MS = 8;
/** Requests at once where the node takes no batches. */
const SINGLES_AT_ONCE = 16;

/**
 * Returns a client of one node. With limits, a request is sent again after the node refused it for the rate of requests, after
 * a failure that passes, and when the server lacks its block; each a few times. After a timeout, which is long already, and
 * without limits, every retry is the caller's.
 */
export function createRpc(options: RpcOptions): Rpc {
  const { chainId, rpcUrl, traffic = UNLIMITED, explain = () => undefined } = options;
  const { isBehind = () => false, isShared = () => false, merge = () => [] } = options;
  const post = createPost(rpcUrl, options.timeoutMs);
  const batchSize = createBatchSize();
  let nextId = 1;

  function unavailable(reason: string, cause?: unknown): OperatingError {
    // Never the library's error: its text quotes the URL, and so would every log line.
    const said = cause === undefined ? undefined : new Error(redactUrl(String(cause), rpcUrl));
    return rpcUnavailable(chainId, reason, said);
  }

  /**
   * Sends one HTTP request, again after each refusal for the rate of requests as long as there is time, and a few times after
   * other failures that pass.
   */
  async function send(requests: readonly RpcRequest[], decode = decodeJson): Promise<Received> {
    const deadlineMs = traffic.now() + WAIT_MAX_MS;
    for (let failures = 0; ;) {
      const received = await sendOnce(requests, { deadlineMs, decode });
      // Without limits nothing waits, so that there is no next time.
      if (received.kind !== "none" || traffic === UNLIMITED) return received;
      if (received.outcome === "rate_limited") continue;
      const pauseMs = received.passes ? FAILURE_PAUSES_MS[failures] : undefined;
      if (pauseMs === undefined) return received;
      failures += 1;
      if (pauseMs > 0) await traffic.pause(pauseMs);
    }
  }

  /**
   * Sends requests again that met a server without their block, each time twice: behind one URL are several servers, and the
   * newest block is at few of them.
   */
  async function askOthers(
    requests: readonly RpcRequest[],
    answers: readonly (NodeAnswer | undefined)[],
    decode?: Decode,
  ): Promise<readonly (NodeAnswer | undefined)[]> {
    if (traffic === UNLIMITED) return answers;
    const found = [...answers];
    for (const pauseMs of BEHIND_PAUSES_MS) {
      const late = requests.flatMap((request, index) => {
        const answer = found[index];
        return answer && isBehind(request, answer) ? [{ request, index }] : [];
      });
      if (late.length === 0) break;
      await traffic.pause(pauseMs);
      const again = late.map(({ request }) => request);
      const received = await Promise.all([send(again, decode), send(again, decode)]);
      const some = received.flatMap((one) => (one.kind === "answers" ? [one.answers] : []));
      if (some.length === 0) break;
      for (const [place, { request, index }] of late.entries()) {
        const given = some.flatMap((one) => one[place] ?? []);
        found[index] = given.find((one) => !isBehind(request, one)) ?? given[0] ?? found[index];
      }
    }
    return found;
  }

  async function sendOnce(
    requests: readonly RpcRequest[],
    { deadlineMs, decode }: { readonly deadlineMs: number; readonly decode: Decode },
  ): Promise<Received> {
    const turn = await traffic.enter(requests.length, deadlineMs).catch((error: unknown) => {
      if (!(error instanceof Withheld)) throw error;
      const withheld = requests.map(({ method }) => ({ method, outcome: "withheld" as const }));
      traffic.observe({ requests: withheld, durationMs: 0, bytesSent: 0, bytesReceived: 0 });
      throw unavailable(error.reason);
    });
    const startMs = traffic.now();
    const firstId = nextId;
    nextId += requests.length;
    const body = encodeRequests(requests, firstId);
    // Neither of these throws: a failure is a value.
    const posted = await post(body);
    const durationMs = traffic.now() - startMs;
    const bytesReceived = posted.kind === "answered" ? sizeOf(posted.body) : 0;
    const received = await readPosted(posted, { count: requests.length, firstId, decode });
    turn.end(received.limited);
    traffic.observe({
      requests: requests.map(({ method }, index) => ({
        method,
        outcome: outcomeOf(received, index),
      })),
      durationMs,
      bytesSent: Buffer.byteLength(body),
      bytesReceived,
    });
    return received;
  }

  function answersOf(received: Received): readonly (NodeAnswer | undefined)[] {
    if (received.kind === "answers") return received.answers;
    assert(received.kind === "none", "only a batch is refused as one");
    throw unavailable(received.reason, received.cause);
  }

  /** Shared requests that are under way, and the functions that end the wait for one of them. */
  let open = 0;
  let waiting: (() => void)[] = [];

  /** Sends after this turn. While others are under way, waits until one ends, for `GATHER_MS` at most, to gather more requests. */
  function sendWhenFree(send: () => void): void {
    if (open === 0) return afterThisTurn(send);
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.push(resolve);
    void Promise.race([promise, traffic.pause(GATHER_MS)]).then(() => afterThisTurn(send));
  }

  /** Counts requests as under way until their answers came. */
  async function occupy<Result>(work: () => Promise<Result>): Promise<Result> {
    open += 1;
    try {
      return await work();
    } finally {
      open -= 1;
      for (const end of waiting) end();
      waiting = [];
    }
  }

  const shared = new DataLoader(
    async (requests: readonly RpcRequest[]) => {
      const keys = requests.map((request) => JSON.stringify(request));
      const distinct = new Map(keys.map((key, index) => [key, requests[index]]));
      const asked = [...distinct.values()].filter((request) => request !== undefined);
      const answers = await occupy(() => askMerged(asked));
      const found = new Map([...distinct.keys()].map((key, index) => [key, answers[index]]));
      return keys.map((key) => {
        const answer = found.get(key);
        assert(answer, "every request has its answer");
        return answer;
      });
    },
    {
      cache: false,
      batchScheduleFn: sendWhenFree,
    },
  );

  /** Sends requests of a turn, some of them as one. */
  async function askMerged(
    requests: readonly RpcRequest[],
  ): Promise<readonly (NodeAnswer | Error)[]> {
    const merged = merge(requests);
    const single = new Set(requests);
    for (const { members } of merged) for (const member of members) single.delete(member);
    const answers = await askAll([...merged.map(({ request }) => request), ...single]);
    const left: RpcRequest[] = [];
    for (const { request, members, separate } of merged) {
      const answer = answers.get(request);
      assert(answer, "every request has its answer");
      const separated = separate(answer);
      for (const [place, member] of members.entries()) {
        // One of them may be the cause, and fails no other; to a node that limits its rate they are not sent again.
        const own = isOfRate(answer) ? answer : separated?.[place];
        if (own) answers.set(member, own);
        else left.push(member);
      }
    }
    const all = new Map([...answers, ...(await askAll(left))]);
    return requests.map((request) => {
      const answer = all.get(request);
      assert(answer, "every request has its answer");
      return answer;
    });
  }

  /** Sends requests, in as few HTTP requests as may share one. */
  async function askAll(
    requests: readonly RpcRequest[],
  ): Promise<Map<RpcRequest, NodeAnswer | Error>> {
    const parts = Array.from({ length: Math.ceil(requests.length / SHARED_MAX) }, (_, index) =>
      requests.slice(index * SHARED_MAX, (index + 1) * SHARED_MAX),
    );
    return new Map((await Promise.all(parts.map(askPart))).flat());
  }

  /** Sends requests as one; a failure is the answer of each. */
  async function askPart(
    requests: readonly RpcRequest[],
  ): Promise<readonly (readonly [RpcRequest, NodeAnswer | Error])[]> {
    try {
      const answers = await askTogether(requests);
      return requests.flatMap((request, index) => {
        const answer = answers[index];
        return answer ? [[request, answer] as const] : [];
      });
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      return requests.map((request) => [request, failure] as const);
    }
  }

  /** Sends requests as one. If that has no answer, each is sent alone: one of them may be the cause, and fails no other. */
  async function askTogether(
    requests: readonly RpcRequest[],
  ): Promise<readonly (NodeAnswer | Error)[]> {
    const [only] = requests;
    if (only && requests.length === 1) return [await askOne(only)];
    try {
      return await batch(requests);
    } catch (error) {
      if (isOfRate(error)) throw error;
      const alone = await Promise.allSettled(requests.map((request) => askOne(request)));
      return alone.map((one) => {
        if (one.status === "fulfilled") return one.value;
        return one.reason instanceof Error ? one.reason : new Error(String(one.reason));
      });
    }
  }

  function share(method: string, params: readonly unknown[]): Promise<NodeAnswer> {
    return shared.load({ method, params });
  }

  async function call(
    method: string,
    params: readonly unknown[],
    decode?: Decode,
  ): Promise<NodeAnswer> {
    const request = { method, params };
    return !decode && isShared(request) ? share(method, params) : askOne(request, decode);
  }

  async function askOne(request: RpcRequest, decode?: Decode): Promise<NodeAnswer> {
    const received = await send([request], decode);
    const [answer] = await askOthers([request], answersOf(received), decode);
    assert(answer, "one request has one answer");
    return answer;
  }

  async function batch(requests: readonly RpcRequest[]): Promise<NodeAnswer[]> {
    const answers: NodeAnswer[] = [];
    while (answers.length < requests.length) {
      const size = Math.min(batchSize.now(), traffic.batchMax);
      if (size === 1) {
        const some = requests.slice(answers.length, answers.length + SINGLES_AT_ONCE);
        answers.push(...(await complete(some, [])));
        continue;
      }
      const some = requests.slice(answers.length, answers.length + size);
      const received = await send(some);
      if (received.kind === "batch_refused") {
        batchSize.refused(some.length);
        continue;
      }
      answers.push(...(await complete(some, await askOthers(some, answersOf(received)))));
      batchSize.accepted(some.length);
    }
    return answers;
  }

  /** Asks for the missing answers one by one. */
  function complete(
    requests: readonly RpcRequest[],
    answers: readonly (NodeAnswer | undefined)[],
  ): Promise<NodeAnswer[]> {
    return Promise.all(
      requests.map(async (request, index) => answers[index] ?? (await askOne(request))),
    );
  }

  function refusal(method: string, error: NodeError): OperatingError {
    const reason = explain(error) ?? `node error ${error.code}`;
    return unavailable(reason, `${method}: ${error.message}`);
  }

  function read<T>(method: string, result: unknown, parse: (result: unknown) => T): T {
    try {
      return parse(result);
    } catch (error) {
      throw unavailable("malformed answer", `${method}: ${String(error)}`);
    }
  }

  async function ask<T>(
    method: string,
    params: readonly unknown[],
    parse: (result: unknown) => T,
  ): Promise<T> {
    const answer = await call(method, params);
    if (answer.ok) return read(method, answer.result, parse);
    throw refusal(method, answer);
  }

  return { chainId, call, share, batch, ask, read, refusal, unavailable };
}
