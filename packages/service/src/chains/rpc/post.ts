/**
 * Posts JSON to one node. Connections are kept alive and answers may be compressed. The timeout covers the whole body.
 *
 * Does not use `fetch`, which passes a compressed body through streams in pieces of 16 KiB: with Solana's blocks that took
 * as long as parsing them.
 */
import { Agent, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as TlsAgent, request as requestHttps } from "node:https";
import { encodeBasic, reasonOfFailure } from "./errors.ts";
import { BODY_BYTES_MAX, type Packed } from "./packed.ts";

/** Servers close connections that are idle for some seconds, or less after this process was busy. */
const IDLE_MS = 1_000;

/** The answer of a server, of any status; or a short reason without one. */
export type Posted =
  | {
      readonly kind: "answered";
      readonly status: number;
      /** The `retry-after` header. */
      readonly retryAfter: string | null;
      readonly body: Packed;
    }
  | { readonly kind: "failed"; readonly reason: string; readonly cause: unknown };

/**
 * Posts a JSON text. Sends it a second time only if the server closed a connection that may have been idle for too long:
 * every request of a chain may be repeated, because a transaction is known by its hash. All other retries are the caller's.
 */
export type Post = (body: string) => Promise<Posted>;

/** Returns the function that posts to a URL. Credentials of the URL become a header. */
export function createPost(rpcUrl: string, timeoutMs: number): Post {
  const send = createSend(rpcUrl);
  /** The last answer; before the first there is no connection that could be kept alive. */
  let answeredMs = Infinity;
  return async (body) => {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const idleMs = performance.now() - answeredMs;
      const response = await send(body, signal).catch((error: unknown) => {
        if (idleMs < IDLE_MS || !isClosedConnection(error)) throw error;
        return send(body, signal);
      });
      answeredMs = performance.now();
      const bytes = await readBody(response);
      return bytes === null ? TOO_LARGE : answered(bytes, response);
    } catch (cause) {
      const reason = signal.aborted ? "timeout" : reasonOfFailure(cause);
      return { kind: "failed", reason, cause };
    }
  };
}

/** Returns the function that sends a request and returns the start of the answer. It follows no redirect. */
function createSend(
  rpcUrl: string,
): (body: string, signal: AbortSignal) => Promise<IncomingMessage> {
  const url = URL.parse(rpcUrl);
  const isTls = url?.protocol === "https:";
  const agent = isTls ? new TlsAgent({ keepAlive: true }) : new Agent({ keepAlive: true });
  const headers = {
    "content-type": "application/json",
    accept: "application/json, */*",
    "accept-encoding": "gzip",
    "user-agent": "sluice",
    ...credentialsOf(url),
  };
  const target = url && withoutCredentials(url);
  return async (body, signal) => {
    if (!target) throw new TypeError("invalid URL");
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const request = isTls ? requestHttps : requestHttp;
    request(target, { method: "POST", headers, agent, signal }, resolve)
      .on("error", reject)
      .end(body);
    return promise;
  };
}

/** Reports whether the server closed the connection instead of answering. */
function isClosedConnection(error: unknown): boolean {
  return error instanceof Error && "code" in error && CLOSED.has(error.code);
}

const CLOSED: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE"]);

function credentialsOf(url: URL | null) {
  if (!url || (url.username === "" && url.password === "")) return {};
  return { authorization: `Basic ${encodeBasic(url.username, url.password)}` };
}

function withoutCredentials(url: URL): URL {
  const bare = new URL(url);
  bare.username = "";
  bare.password = "";
  return bare;
}

/** Reads the body as it was sent; null as soon as it exceeds the limit. */
async function readBody(response: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    // CAST: without an encoding, a stream of bytes has buffers.
    const some = chunk as Buffer;
    bytes += some.length;
    // Leaving the loop ends the connection.
    if (bytes > BODY_BYTES_MAX) return null;
    chunks.push(some);
  }
  return Buffer.concat(chunks);
}

function answered(bytes: Buffer, { statusCode = 0, headers }: IncomingMessage): Posted {
  return {
    kind: "answered",
    status: statusCode,
    retryAfter: headers["retry-after"] ?? null,
    body: { bytes, encoding: headers["content-encoding"] ?? "identity" },
  };
}

const TOO_LARGE: Posted = { kind: "failed", reason: "answer too large", cause: undefined };

/** Acts after all that is ready now, so that requests which follow answers that came together are sent together. */
export function afterThisTurn(act: () => void): void {
  setImmediate(act);
}
