/** One JSON-RPC node over HTTP. Nothing of an answer goes on unchecked. */
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { http } from "viem";
import type { OperatingError } from "../../core/errors.ts";
import { reasonOf, redactUrl, rpcUnavailable } from "./errors.ts";

/** What a node answered: a result, or an error of its own. */
export type NodeAnswer =
  { readonly ok: true; readonly result: unknown } | ({ readonly ok: false } & NodeError);

export interface NodeError {
  readonly code: number;
  /** The node's text: to match against, never to show. */
  readonly message: string;
  readonly data: unknown;
}

export interface Rpc {
  /** Bridge chain id. */
  readonly chainId: number;
  /** One request. Throws RPC_UNAVAILABLE when no answer came; an error that the node states is a value. */
  call(method: string, params: readonly unknown[]): Promise<NodeAnswer>;
  /** One request whose result is parsed. Throws RPC_UNAVAILABLE also when the node states an error or `parse` throws. */
  ask<T>(method: string, params: readonly unknown[], parse: (result: unknown) => T): Promise<T>;
  /** Parses a result. Throws RPC_UNAVAILABLE when `parse` throws: an answer of another form is as good as none. */
  read<T>(method: string, result: unknown, parse: (result: unknown) => T): T;
  /** RPC_UNAVAILABLE of this node, for a short reason of our own words. The cause is for the log, without the URL. */
  unavailable(reason: string, cause?: unknown): OperatingError;
}

/** A block may hold tens of thousands of transfers of nothing, and anybody can make one. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;

const StatedError = Compile(
  Type.Object({
    code: Type.Integer(),
    message: Type.String(),
    data: Type.Optional(Type.Unknown()),
  }),
);

/** Speaks to one node. Each request is sent once: whoever asked decides about asking again. */
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
  // CAST: the transport types the methods it knows; here every result is checked by whoever asked.
  const request = transport.request as unknown as RawRequest;

  function unavailable(reason: string, cause?: unknown): OperatingError {
    // Never the library's own error: its text, and so every log of it, would quote the URL.
    const said = cause === undefined ? undefined : new Error(redactUrl(String(cause), rpcUrl));
    return rpcUnavailable(chainId, reason, said);
  }

  async function call(method: string, params: readonly unknown[]): Promise<NodeAnswer> {
    // The transport's own timeout ends when the headers are there; this one covers the body too.
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
