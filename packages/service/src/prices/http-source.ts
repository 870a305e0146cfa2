/**
 * Prices out of the JSON of HTTP APIs. What a server says is a stranger's text: it may be late, endless, another format
 * or a lie. It is taken digit by digit, never through a floating-point number, and whatever is not a number where one is
 * expected is no price.
 */
import type { HttpPriceConfig } from "../config/index.ts";
import { assert } from "../core/assert.ts";
import type { Clock, Http } from "../core/ports.ts";
import { PRICE_DECIMALS, type SourceAnswer } from "./price.ts";

/** A quote and a scan wait for it. */
const TIMEOUT_MS = 3_000;
/** The largest list of tickers that anybody needs. */
const BODY_BYTES_MAX = 65_536;
/** An answer, or the lack of one, holds for so long: many quotes ask once. */
const CACHE_MS = 10_000;

/** What a URL answered, in the moment it was asked. */
interface Page {
  readonly askedAtMs: number;
  readonly answer: Promise<Parsed>;
}

type Parsed =
  | { readonly document: unknown }
  | { readonly fault: "no_answer" | "bad_answer"; readonly detail: string };

/**
 * Reads sources. One request for all tokens of a URL, and for all who ask at once; a server is asked again after ten
 * seconds at the earliest, also when it failed.
 */
export function createHttpSources(deps: {
  readonly http: Http;
  readonly clock: Clock;
}): (source: HttpPriceConfig) => Promise<SourceAnswer> {
  const { http, clock } = deps;
  /** As many as the configuration has URLs. */
  const pages = new Map<string, Page>();

  function openPage({ url, headers }: HttpPriceConfig): Page {
    const key = JSON.stringify([url, ...headers.keys()]);
    const nowMs = clock.now();
    const known = pages.get(key);
    // A clock that was set back must not keep an answer for ever.
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
    // Not JSON, or nested too deeply to read.
    if (!(error instanceof SyntaxError) && !(error instanceof RangeError)) throw error;
    return { fault: "bad_answer", detail: "not JSON" };
  }
}

/** JSON whose numbers stay the text that they were. */
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
  // A source that says no time is as old as the question.
  const atMs =
    timestampPointer === undefined ? askedAtMs : parseTime(find(document, timestampPointer));
  if (atMs === null) return { fault: "bad_answer", detail: "no time at the timestampPointer" };
  return { usd, published: { atMs, maxAgeMs } };
}

/** What stands at the names of a JSON pointer; undefined where nothing does. */
function find(document: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (at, name) =>
      typeof at === "object" && at !== null && Object.hasOwn(at, name)
        ? Reflect.get(at, name)
        : undefined,
    document,
  );
}

/** A number as JSON writes it, or the same in a string: bounded, so that no exponent makes a number without end. */
const NUMBER = /^(-?)(\d{1,60})(?:\.(\d{1,80}))?(?:[eE]([+-]?\d{1,3}))?$/;

/** US dollars times 1e18, digits beyond that cut off; null for what is no number. */
function parsePrice(value: unknown, scale: number): bigint | null {
  const match = typeof value === "string" ? NUMBER.exec(value) : null;
  if (!match) return null;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = BigInt(sign + whole + fraction);
  const shift = PRICE_DECIMALS - scale - fraction.length + Number(exponent);
  return shift >= 0 ? digits * 10n ** BigInt(shift) : digits / 10n ** BigInt(-shift);
}

/** The year 5138 in seconds, 1973 in milliseconds: no price is as old or as new as to be taken for the other. */
const MILLISECONDS_FROM = 100_000_000_000;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/** Milliseconds since the epoch, of Unix seconds, Unix milliseconds or an ISO 8601 time with its zone; else null. */
function parseTime(value: unknown): number | null {
  if (typeof value !== "string") return null;
  if (/^\d{1,15}(\.\d{1,9})?$/.test(value)) {
    const time = Number(value);
    return time < MILLISECONDS_FROM ? time * 1_000 : time;
  }
  const time = ISO_TIME.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}
