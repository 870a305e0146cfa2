/**
 * Posts JSON to one node. Connections are kept alive and answers may be compressed. The timeout covers the whole body, and
 * the size of a body is bounded after decompression.
 */
import { encodeBasic, reasonOfFailure } from "./errors.ts";

/** Anybody can create a block with tens of thousands of zero-value transfers. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;

/** Servers close connections that are idle for some seconds, or less after this process was busy. */
const IDLE_MS = 1_000;

/** The answer of a server, of any status; or a short reason without one. */
export type Posted =
  | {
      readonly kind: "answered";
      readonly status: number;
      /** The `retry-after` header. */
      readonly retryAfter: string | null;
      readonly body: Buffer;
    }
  | { readonly kind: "failed"; readonly reason: string; readonly cause: unknown };

/**
 * Posts a JSON text. Sends it a second time only if the server closed a connection that may have been idle for too long:
 * every request of a chain may be repeated, because a transaction is known by its hash. All other retries are the caller's.
 */
export type Post = (body: string) => Promise<Posted>;

/** Returns the function that posts to a URL. Credentials of the URL become a header, as `fetch` refuses them. */
export function createPost(rpcUrl: string, timeoutMs: number): Post {
  const { url, headers } = splitCredentials(rpcUrl);
  /** The last answer; before the first there is no connection that could be kept alive. */
  let answeredMs = Infinity;
  const send = (body: string, signal: AbortSignal) =>
    // A redirect could send keys to another host; its status is the answer.
    fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
  return async (body) => {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const idleMs = performance.now() - answeredMs;
      const response = await send(body, signal).catch((error: unknown) => {
        if (idleMs < IDLE_MS || !isClosedConnection(error)) throw error;
        return send(body, signal);
      });
      answeredMs = performance.now();
      const answer = await readBody(response);
      if (answer === null) return { kind: "failed", reason: "answer too large", cause: undefined };
      const retryAfter = response.headers.get("retry-after");
      return { kind: "answered", status: response.status, retryAfter, body: answer };
    } catch (cause) {
      const reason = signal.aborted ? "timeout" : reasonOfFailure(cause);
      return { kind: "failed", reason, cause };
    }
  };
}

/** Reports whether the server closed the connection instead of answering. */
function isClosedConnection(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && cause.code === "UND_ERR_SOCKET";
}

function splitCredentials(rpcUrl: string) {
  const headers = { "content-type": "application/json", "user-agent": "sluice" };
  const url = URL.parse(rpcUrl);
  if (!url || (url.username === "" && url.password === "")) return { url: rpcUrl, headers };
  const authorization = `Basic ${encodeBasic(url.username, url.password)}`;
  url.username = "";
  url.password = "";
  return { url: url.href, headers: { ...headers, authorization } };
}

/** Reads the body; null as soon as it exceeds the limit. */
async function readBody(response: Response): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the rest of the body.
    if (bytes > BODY_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
