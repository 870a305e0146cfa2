/** Verifies webhooks, by the Standard Webhooks specification 1.0.0, with the Web Crypto API alone. */
import { Value } from "typebox/value";
import { EventItem, ExtendedEventItem } from "../wire/index.ts";
import { SluiceWebhookError } from "./errors.ts";

/** A webhook as it arrived. */
export interface ReceivedWebhook {
  /** Headers of the request: `Headers`, or an object as Node has it. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as it arrived, before any parser. */
  readonly body: string | Uint8Array;
  /** Public keys (`whpk_…`) or secrets (`whsec_…`) of the endpoint; during a rotation both. */
  readonly keys: string | readonly string[];
  /** The largest age of a webhook, and the largest difference of clocks, in seconds. Default 300. */
  readonly toleranceSeconds?: number;
  /** The present time, in milliseconds. Default: the system's clock. */
  readonly nowMs?: number;
}

/** A webhook whose signature was verified. */
export interface VerifiedWebhook {
  /** Id of the event. Ignore those that you have stored: an event arrives at least once. */
  readonly id: string;
  /** Type of the event; `endpoint.test` of a test. */
  readonly type: string;
  /** The event; null for a test, and for a type that this version of the package does not know. */
  readonly event: EventItem | ExtendedEventItem | null;
  /** The body as JSON. */
  readonly payload: unknown;
}

const TOLERANCE_S = 300;
const PREFIXES = { v1a: "whpk_", v1: "whsec_" } as const;
const ALGORITHMS = { v1a: "Ed25519", v1: { name: "HMAC", hash: "SHA-256" } } as const;
type Scheme = keyof typeof PREFIXES;

/**
 * Verifies a webhook and returns its event.
 * @throws SluiceWebhookError if no signature is of one of the keys, the webhook is too old, or it is malformed.
 */
export async function verifyWebhook(received: ReceivedWebhook): Promise<VerifiedWebhook> {
  const { body, keys, toleranceSeconds = TOLERANCE_S, nowMs = Date.now() } = received;
  const id = readHeader(received, "webhook-id");
  const timestamp = readHeader(received, "webhook-timestamp");
  const signatures = readHeader(received, "webhook-signature").split(" ");
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new SluiceWebhookError(`webhook-timestamp is ${timestamp}: expected seconds since 1970`);
  }
  const ageS = nowMs / 1_000 - Number(timestamp);
  if (Math.abs(ageS) > toleranceSeconds) {
    throw new SluiceWebhookError(
      `webhook-timestamp is ${Math.round(ageS)} s old: expected at most ${toleranceSeconds} s`,
    );
  }
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const message = concat(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  if (!(await isSigned(message, signatures, [keys].flat()))) {
    throw new SluiceWebhookError("webhook-signature: expected a signature of one of the keys");
  }
  return readEvent(id, new TextDecoder().decode(bytes));
}

function readHeader({ headers }: ReceivedWebhook, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value === "string" && value !== "") return value;
  throw new SluiceWebhookError(`${name}: expected this header once`);
}

/** Returns whether one of the signatures is of one of the keys. */
async function isSigned(
  message: Uint8Array<ArrayBuffer>,
  signatures: readonly string[],
  keys: readonly string[],
): Promise<boolean> {
  for (const key of keys) {
    const scheme = schemeOf(key);
    const algorithm = ALGORITHMS[scheme];
    const raw = decode(key.slice(PREFIXES[scheme].length), "keys");
    const imported = await crypto.subtle.importKey("raw", raw, algorithm, false, ["verify"]);
    for (const signature of signatures) {
      const [named, text = ""] = signature.split(",");
      if (named !== scheme) continue;
      const given = decode(text, "webhook-signature");
      if (await crypto.subtle.verify(algorithm, imported, given, message)) return true;
    }
  }
  return false;
}

function schemeOf(key: string): Scheme {
  if (key.startsWith(PREFIXES.v1a)) return "v1a";
  if (key.startsWith(PREFIXES.v1)) return "v1";
  // The text is not shown: it may be a secret.
  throw new SluiceWebhookError("keys: expected public keys (whpk_…) or secrets (whsec_…)");
}

function decode(text: string, name: string): Uint8Array<ArrayBuffer> {
  let binary: string;
  try {
    binary = atob(text);
  } catch {
    throw new SluiceWebhookError(`${name}: expected Base64`);
  }
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

function readEvent(id: string, text: string): VerifiedWebhook {
  let payload: unknown;
  try {
    payload = JSON.parse(text);
  } catch {
    throw new SluiceWebhookError("the body: expected JSON");
  }
  const fields: { readonly type?: unknown } = Object(payload);
  if (typeof fields.type !== "string") {
    throw new SluiceWebhookError("the body: expected an object with a type");
  }
  const item: unknown = { id, ...fields };
  const isKnown = Value.Check(ExtendedEventItem, item) || Value.Check(EventItem, item);
  return { id, type: fields.type, event: isKnown ? item : null, payload };
}
