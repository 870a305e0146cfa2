/**
 * Price sources that are HTTP APIs with JSON answers. Answers are untrusted: late, too large, malformed or false. Numbers are
 * parsed from their digits, never through floating point, and anything else at their place is a fault of the source.
 */
import type { HttpPriceConfig } from "../config/index.ts";
import { assert } from "../core/assert.ts";
import type { Clock, Http } from "../core/ports.ts";
import { PRICE_DECIMALS, type SourceAnswer } from "./price.ts";

/** Quotes and the scanner wait for a price. */
const TIMEOUT_MS = 3_000;
/** Enough for a full list of tickers. */
const BODY_BYTES_MAX = 65_536;
/** An answer or failure is cached this long, so that many quotes share one request. */
const CACHE_MS = 10_000;

/** The cached answer of a URL and the time of its request. */
interface Page {
  readonly askedAtMs: number;
  readonly answer: Promise<Parsed>;
}

type Parsed =
  | { readonly document: unknown }
  | { readonly fault: "no_answer" | "bad_answer"; readonly detail: string };

/**
 * Returns a reader of HTTP price sources. Tokens and callers share one request per URL; a server is asked at most every ten
 * seconds, also after a failure.
 */
export function createHttpSources(deps: {
  readonly http: Http;
  readonly clock: Clock;
}): (source: HttpPriceConfig) => Promise<SourceAnswer> {
  const { http, clock } = deps;
  /** Bounded by the number of URLs in the configuration. */
  const pages = new Map<string, Page>();

  function openPage({ url, headers }: HttpPriceConfig): Page {
    const key = JSON.stringify([url, ...headers.keys()]);
    const nowMs = clock.now();
    const known = pages.get(key);
    // If the clock was set back, the cached answer must not live longer.
    if (known && nowMs >= known.askedAtMs && nowMs - known.askedAtMs < CACHE_MS) return known;
    const request = { url, headers, timeoutMs: TIMEOUT_MS, bytesMax: BODY_BYTES_MAX };
    const page = { askedAtMs: nowMs, answer: http(request).then(parseAnswer) };
    pages.set(key, page);
    return page;
  }

  return async (source) => {
    const { askedAtMs, answer } = openPage(source);
    const parsed = await answer;
    if ("fault" in parsed) return parsed;
    return readPoint(parsed.document, source, askedAtMs);
  };
}

function parseAnswer(answer: Awaited<ReturnType<Http>>): Parsed {
  if (answer.kind === "failed") return { fault: "no_answer", detail: answer.reason };
  if (answer.status !== 200) return { fault: "no_answer", detail: `status ${answer.status}` };
  try {
    return { document: parseExactly(answer.body) };
  } catch (error) {
    // Not JSON, or nested too deeply.
    if (!(error instanceof SyntaxError) && !(error instanceof RangeError)) throw error;
    return { fault: "bad_answer", detail: "not JSON" };
  }
}

/** Parses JSON, keeping each number as its source text. */
function parseExactly(text: string): unknown {
  return JSON.parse(text, (_name, value: unknown, context?: { readonly source?: string }) => {
    if (typeof value !== "number") return value;
    assert(context?.source !== undefined, "the runtime gives the text of a number");
    return context.source;
  });
}

function readPoint(document: unknown, source: HttpPriceConfig, askedAtMs: number): SourceAnswer {
  const { pointer, timestampPointer, scale, maxAgeMs } = source;
  const usd = parsePrice(find(document, pointer), scale);
  if (usd === null) return { fault: "bad_answer", detail: "no number at the pointer" };
  // Without a timestamp in the answer, the price is as old as the request.
  const atMs =
    timestampPointer === undefined ? askedAtMs : parseTime(find(document, timestampPointer));
  if (atMs === null) return { fault: "bad_answer", detail: "no time at the timestampPointer" };
  return { usd, published: { atMs, maxAgeMs } };
}

/** Returns the value at the names of a JSON pointer, or undefined. Ignores inherited properties. */
function find(document: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (at, name) =>
      typeof at === "object" && at !== null && Object.hasOwn(at, name)
        ? Reflect.get(at, name)
        : undefined,
    document,
  );
}

/** A JSON number, also inside a string. Bounded, so that an exponent cannot exhaust memory. */
const NUMBER = /^(-?)(\d{1,60})(?:\.(\d{1,80}))?(?:[eE]([+-]?\d{1,3}))?$/;

/** Returns US dollars times 1e18, truncated; null if the value is not a number. */
function parsePrice(value: unknown, scale: number): bigint | null {
  const match = typeof value === "string" ? NUMBER.exec(value) : null;
  if (!match) return null;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = BigInt(sign + whole + fraction);
  const shift = PRICE_DECIMALS - scale - fraction.length + Number(exponent);
  return shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
}

/** The year 5138 in seconds and 1973 in milliseconds, so that a price's time is never ambiguous. */
const MILLISECONDS_FROM = 100_000_000_000;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** Parses Unix seconds, Unix milliseconds or ISO 8601 with a zone to milliseconds since the epoch; null for other values. */
function parseTime(value: unknown): number | null {
  if (typeof value !== "string") return null;
  if (/^\d{1,15}(\.\d{1,9})?$/.test(value)) {
    const time = Number(value);
    return time < MILLISECONDS_FROM ? time * 1_000 : time;
  }
  const time = ISO_TIME.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}
