/** How trouble with a node becomes an operating error: a short reason from our own words, and no text of the node's. */
import { HttpRequestError, ResponseBodyTooLargeError, TimeoutError, UnknownRpcError } from "viem";
import { OperatingError } from "../../core/errors.ts";

/** The node gave no answer that can be used; this says nothing about the chain. Retriable. */
export function rpcUnavailable(chainId: number, reason: string, cause?: unknown): OperatingError {
  return new OperatingError("RPC_UNAVAILABLE", "The chain's node did not give a usable answer.", {
    details: { chainId, reason },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The reason of a failed request in a few words. */
export function reasonOf(error: unknown, timedOut: boolean): string {
  if (timedOut || error instanceof TimeoutError) return "timeout";
  if (error instanceof ResponseBodyTooLargeError) return "answer too large";
  if (error instanceof HttpRequestError) {
    if (error.status !== undefined) return `http ${error.status}`;
    if (error.cause instanceof SyntaxError) return "malformed answer";
  }
  // The transport takes an answer apart without looking: null has no parts.
  if (error instanceof UnknownRpcError && error.cause instanceof TypeError) {
    return "malformed answer";
  }
  const code = codeOf(error);
  return code === undefined ? "unreachable" : `unreachable (${code})`;
}

/**
 * Whether a node says that it no longer has the state of a block, as nodes do that keep the state of the newest blocks
 * only. That is no trouble of the moment: the same node never answers.
 */
export function isStateMissing({ message }: { readonly message: string }): boolean {
  return STATE_MISSING.test(message);
}

const STATE_MISSING = new RegExp(
  [
    "missing trie node", // geth, and what is made of it
    "historical state .*(un|not )available", // geth, reth
    "state .*is pruned", // reth
    "old data not available due to pruning", // erigon
    "no state available for block", // nethermind
    "world state .*unavailable", // besu
  ].join("|"),
  "i",
);

/**
 * The text of an error for the log, without what the URL keeps secret: a library's message quotes the URL, and URLs
 * carry keys in their path, query or user part.
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
  // As it is sent, should the node repeat it.
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
    // Not percent-encoded; as it stands it is covered already.
    return part;
  }
}

/** The system's code of a failed connection, such as ECONNREFUSED, from wherever in the chain of causes it stands. */
function codeOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if ("code" in at && typeof at.code === "string" && /^[A-Z_]{3,40}$/.test(at.code)) {
      return at.code;
    }
  }
  return undefined;
}
