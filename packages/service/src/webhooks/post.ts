/**
 * Sends webhooks. The addresses of a name are resolved and checked when a connection is opened, and the connection is made
 * to them: a second look-up, which could give another answer, does not happen. Redirects are not followed, and the body of
 * an answer is never read.
 */
import { Resolver } from "node:dns/promises";
import { Agent as HttpAgent, type IncomingMessage, request as requestPlain } from "node:http";
import { Agent as HttpsAgent, request as requestTls } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { AddressRules } from "./address-rules.ts";
import { addressIn } from "./url.ts";

/** Why an attempt got no answer. */
export const POST_ERRORS = [
  "timed_out",
  "address_refused",
  "name_not_resolved",
  "connection_failed",
  "tls_failed",
] as const;
export type PostError = (typeof POST_ERRORS)[number];

/** A webhook as it is sent. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** For the whole request, from the look-up of the name to the head of the answer. */
  readonly timeoutMs: number;
}

/** The outcome of a request. A failure of the receiver is a value, never an exception. */
export type PostAnswer =
  | {
      readonly kind: "answered";
      readonly status: number;
      /** `Retry-After`, as it was sent. */
      readonly retryAfter: string | undefined;
    }
  | { readonly kind: "failed"; readonly error: PostError };

/** Sends webhooks over connections that it keeps. */
export interface WebhookPost {
  send(request: WebhookRequest): Promise<PostAnswer>;
  /** Closes the connections; requests under way fail. */
  close(): void;
}

/** Connections that are kept for the next webhook, in total and per endpoint. */
const FREE_SOCKETS_MAX = 256;
const FREE_SOCKET_MS = 30_000;
/** Bytes of an answer's body that are dropped to keep its connection; a longer body ends the connection. */
const DROPPED_BYTES_MAX = 65_536;
const HEADER_BYTES_MAX = 16_384;
/** Resolves a name in time for the connection and the answer; the resolver tries each server twice. */
const RESOLVE_TIMEOUT_MS = 3_000;
const LOOPBACK = ["127.0.0.1", "::1"];

/** A refusal of an address or a name, thrown from the look-up of a connection. */
class LookupError extends Error {
  readonly reason: PostError;

  constructor(reason: PostError) {
    super(reason);
    this.reason = reason;
  }
}

/** Resolves a name to its addresses. */
export type Resolve = (name: string) => Promise<readonly string[]>;

/** Creates the sender. */
export function createWebhookPost({
  rules,
  resolve = createResolve(),
}: {
  readonly rules: AddressRules;
  readonly resolve?: Resolve;
}): WebhookPost {
  const agentOptions = (forPlain: boolean) => ({
    keepAlive: true,
    maxFreeSockets: FREE_SOCKETS_MAX,
    timeout: FREE_SOCKET_MS,
    lookup: createCheckedLookup({ rules, resolve, forPlain }),
  });
  const plain = new HttpAgent(agentOptions(true));
  const tls = new HttpsAgent(agentOptions(false));

  function sendOnce(request: WebhookRequest, signal: AbortSignal): Promise<PostAnswer | "stale"> {
    const { promise, resolve: settle } = Promise.withResolvers<PostAnswer | "stale">();
    const url = new URL(request.url);
    const forPlain = url.protocol === "http:";
    const address = addressIn(url);
    if (address !== null && !rules.allows(address, { forPlain })) {
      return Promise.resolve({ kind: "failed", error: "address_refused" });
    }
    const options = {
      method: "POST",
      headers: { ...request.headers, "content-length": Buffer.byteLength(request.body) },
      maxHeaderSize: HEADER_BYTES_MAX,
      signal,
    };
    const sent = forPlain
      ? requestPlain(url, { ...options, agent: plain })
      : requestTls(url, { ...options, agent: tls });
    sent.on("response", (response) => {
      drop(response);
      settle({
        kind: "answered",
        status: response.statusCode ?? 0,
        retryAfter: response.headers["retry-after"],
      });
    });
    sent.on("error", (error) => {
      // The receiver closed a kept connection while the request was on its way: it has not read it.
      if (sent.reusedSocket && codeOf(error) === "ECONNRESET" && !signal.aborted) settle("stale");
      else settle({ kind: "failed", error: classify(error, signal) });
    });
    sent.end(request.body);
    return promise;
  }

  return {
    async send(request) {
      const signal = AbortSignal.timeout(request.timeoutMs);
      for (;;) {
        const answer = await sendOnce(request, signal);
        if (answer !== "stale") return answer;
      }
    },
    close() {
      plain.destroy();
      tls.destroy();
    },
  };
}

/** Drops the body of an answer, and ends a connection whose body is long. */
function drop(response: IncomingMessage): void {
  let bytes = 0;
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.byteLength;
    if (bytes > DROPPED_BYTES_MAX) response.destroy();
  });
  // The answer counts from its head on; its body may end early.
  response.on("error", () => response.destroy());
}

/** Returns a look-up that gives a connection checked addresses only, all of them or an error. */
function createCheckedLookup(args: {
  readonly rules: AddressRules;
  readonly resolve: Resolve;
  readonly forPlain: boolean;
}): LookupFunction {
  const { rules, resolve, forPlain } = args;
  return (name, options, callback) => {
    const fail = (error: Error) => callback(error, "", 0);
    resolve(name).then((addresses) => {
      const [first] = addresses;
      if (first === undefined) return fail(new LookupError("name_not_resolved"));
      // One refused address is enough: a name that mixes both is built to confuse.
      if (!addresses.every((address) => rules.allows(address, { forPlain }))) {
        return fail(new LookupError("address_refused"));
      }
      const all = addresses.map((address) => ({ address, family: isIP(address) }));
      return options.all === true ? callback(null, all) : callback(null, first, isIP(first));
    }, fail);
  };
}

/**
 * Creates the resolver. It asks the servers of the system directly: the system's own look-up has four threads for the whole
 * process, and a few slow names would block all others. The file `hosts` is not read.
 */
function createResolve(): Resolve {
  const resolver = new Resolver({ timeout: RESOLVE_TIMEOUT_MS, tries: 2 });
  return async (name) => {
    if (name === "localhost" || name.endsWith(".localhost")) return LOOPBACK;
    const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return found.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  };
}

/** Node's codes of failures of TLS and certificates, beside those that begin with `ERR_TLS_` and `ERR_SSL_`. */
const TLS_CODE =
  /^(ERR_TLS_|ERR_SSL_|CERT_|EPROTO$|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERROR_IN_CERT|INVALID_(CA|PURPOSE)|HOSTNAME_MISMATCH)/;

function classify(error: Error, signal: AbortSignal): PostError {
  if (signal.aborted) return "timed_out";
  if (error instanceof LookupError) return error.reason;
  return TLS_CODE.test(codeOf(error)) ? "tls_failed" : "connection_failed";
}

function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/**
 * Parses a `Retry-After` in seconds, or a date, into milliseconds from now; undefined if it is neither.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const atMs = /^[A-Z][a-z]{2}, /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - nowMs);
}
