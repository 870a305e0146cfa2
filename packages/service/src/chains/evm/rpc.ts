/** One JSON-RPC node over HTTP. Every answer is checked before use. */
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { http } from "viem";
import type { OperatingError } from "../../core/errors.ts";
import { reasonOf, redactUrl, rpcUnavailable } from "./errors.ts";

/** Result of a node, or its own error. */
export type NodeAnswer =
  { readonly ok: true; readonly result: unknown } | ({ readonly ok: false } & NodeError);

export interface NodeError {
  readonly code: number;
  /** The node's text: for matching only, never displayed. */
  readonly message: string;
  readonly data: unknown;
}

export interface Rpc {
  /** Bridge chain id. */
  readonly chainId: number;
  /** Sends one request. Throws RPC_UNAVAILABLE without an answer; an error from the node is a value. */
  call(method: string, params: readonly unknown[]): Promise<NodeAnswer>;
  /** Sends one request and parses its result. Also throws RPC_UNAVAILABLE if the node returns an error or `parse` throws. */
  ask<T>(method: string, params: readonly unknown[], parse: (result: unknown) => T): Promise<T>;
  /** Parses a result. Throws RPC_UNAVAILABLE if `parse` throws, because a malformed answer is no answer. */
  read<T>(method: string, result: unknown, parse: (result: unknown) => T): T;
  /** Returns RPC_UNAVAILABLE of this node with a short reason of ours. The cause is for the log, with the URL redacted. */
  unavailable(reason: string, cause?: unknown): OperatingError;
}

/** Anybody can create a block with tens of thousands of zero-value transfers. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;

const StatedError = Compile(
  Type.Object({
    code: Type.Integer(),
    message: Type.String(),
    data: Type.Optional(Type.Unknown()),
  }),
);

/** Returns a client of one node. Each request is sent once; the caller decides about retries. */
export function createRpc(options: {
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly timeoutMs: number;
}): Rpc {
  const { chainId, rpcUrl, timeoutMs } = options;
  const transport = http(rpcUrl, {
    raw: true,
    retryCount: 0,
    timeout: timeoutMs,
    maxResponseBodySize: BODY_BYTES_MAX,
  })({});
  // CAST: the transport types only known methods; here every caller checks its result.
  const request = transport.request as unknown as RawRequest;

  function unavailable(reason: string, cause?: unknown): OperatingError {
    // Never the library's error: its text quotes the URL, and so would every log line.
    const said = cause === undefined ? undefined : new Error(redactUrl(String(cause), rpcUrl));
    return rpcUnavailable(chainId, reason, said);
  }

  async function call(method: string, params: readonly unknown[]): Promise<NodeAnswer> {
    // The transport's own timeout covers only the headers; this one covers the body too.
    const signal = AbortSignal.timeout(timeoutMs);
    let answer: RawAnswer;
    try {
      answer = await request({ method, params }, { signal, retryCount: 0 });
    } catch (error) {
      throw unavailable(reasonOf(error, signal.aborted), error);
    }
    if (answer.error === undefined || answer.error === null) {
      if (answer.result === undefined) throw unavailable("malformed answer");
      return { ok: true, result: answer.result };
    }
    if (!StatedError.Check(answer.error)) throw unavailable("malformed answer");
    const { code, message, data } = answer.error;
    return { ok: false, code, message, data };
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
    throw unavailable(`node error ${answer.code}`, `${method}: ${answer.message}`);
  }

  return { chainId, call, ask, read, unavailable };
}

interface RawAnswer {
  readonly result?: unknown;
  readonly error?: unknown;
}

type RawRequest = (
  args: { readonly method: string; readonly params: readonly unknown[] },
  options: { readonly signal: AbortSignal; readonly retryCount: number },
) => Promise<RawAnswer>;
