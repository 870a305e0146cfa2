/** Turns node failures into operating errors: a short reason in our own words, never the node's text. */
import { OperatingError } from "../../core/errors.ts";

/** Returns the retriable error for a node without a usable answer. It says nothing about the chain. */
export function rpcUnavailable(chainId: number, reason: string, cause?: unknown): OperatingError {
  return new OperatingError("RPC_UNAVAILABLE", "The chain's node did not give a usable answer.", {
    details: { chainId, reason },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Returns the short reason of an error of a node, undefined for any other error. */
export function reasonOf(error: unknown): unknown {
  return error instanceof OperatingError ? error.details?.["reason"] : undefined;
}

/** Returns a short reason for a connection that failed, with the system's error code if there is one. */
export function reasonOfFailure(error: unknown): string {
  const code = codeOf(error);
  return code === undefined ? "unreachable" : `unreachable (${code})`;
}

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
  return [
    // Basic credentials as sent, in case the node echoes them.
    encodeBasic(username, password),
    username,
    password,
    ...pathname.split("/"),
    ...searchParams.values(),
  ]
    .flatMap((part) => [part, decodeSafely(part)])
    .filter((part) => part.length >= 6);
}

/** Returns the basic credentials of a URL as they are sent in a header. */
export function encodeBasic(username: string, password: string): string {
  return Buffer.from(`${decodeSafely(username)}:${decodeSafely(password)}`).toString("base64");
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
