/** Turns node failures into operating errors: a short reason in our own words, never the node's text. */
import { HttpRequestError, ResponseBodyTooLargeError, TimeoutError, UnknownRpcError } from "viem";
import { OperatingError } from "../../core/errors.ts";

/** Returns the retriable error for a node without a usable answer. It says nothing about the chain. */
export function rpcUnavailable(chainId: number, reason: string, cause?: unknown): OperatingError {
  return new OperatingError("RPC_UNAVAILABLE", "The chain's node did not give a usable answer.", {
    details: { chainId, reason },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Returns a short reason for a failed request. */
export function reasonOf(error: unknown, timedOut: boolean): string {
  if (timedOut || error instanceof TimeoutError) return "timeout";
  if (error instanceof ResponseBodyTooLargeError) return "answer too large";
  if (error instanceof HttpRequestError) {
    if (error.status !== undefined) return `http ${error.status}`;
    if (error.cause instanceof SyntaxError) return "malformed answer";
  }
  // The transport destructures the answer unchecked; a null answer fails there.
  if (error instanceof UnknownRpcError && error.cause instanceof TypeError) {
    return "malformed answer";
  }
  const code = codeOf(error);
  return code === undefined ? "unreachable" : `unreachable (${code})`;
}

/** Returns whether a node reports that it has pruned a block's state. Retrying the same node never succeeds. */
export function isStateMissing({ message }: { readonly message: string }): boolean {
  return STATE_MISSING.test(message);
}

const STATE_MISSING = new RegExp(
  [
    "missing trie node", // geth and its forks
    "historical state .*(un|not )available", // geth, reth
    "state .*is pruned", // reth
    "old data not available due to pruning", // erigon
    "no state available for block", // nethermind
    "world state .*unavailable", // besu
  ].join("|"),
  "i",
);

/**
 * Removes the secrets of a URL from an error text for the log. Library messages quote the URL, which may carry keys in path,
 * query or credentials.
 */
export function redactUrl(text: string, url: string): string {
  const withoutUrls = text.replace(/\b(?:https?|wss?):\/\/[^\s"'<>]+/g, "[url]");
  return secretsOf(url)
    .reduce((redacted, secret) => redacted.replaceAll(secret, "[redacted]"), withoutUrls)
    .slice(0, 500);
}

function secretsOf(url: string): string[] {
  if (!URL.canParse(url)) return [url];
  const { username, password, pathname, searchParams } = new URL(url);
  // Basic credentials as sent, in case the node echoes them.
  const basic = Buffer.from(`${decodeSafely(username)}:${decodeSafely(password)}`);
  return [
    basic.toString("base64"),
    username,
    password,
    ...pathname.split("/"),
    ...searchParams.values(),
  ]
    .flatMap((part) => [part, decodeSafely(part)])
    .filter((part) => part.length >= 6);
}

function decodeSafely(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Not percent-encoded: the raw form is covered already.
    return part;
  }
}

/** Returns the system's error code of a failed connection, such as ECONNREFUSED, from anywhere in the chain of causes. */
function codeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if ("code" in at && typeof at.code === "string" && /^[A-Z_]{3,40}$/.test(at.code)) {
      return at.code;
    }
  }
  return undefined;
}
