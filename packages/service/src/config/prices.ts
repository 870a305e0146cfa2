/** Where prices come from, as written and as used. */
import { isIP } from "node:net";
import { parseUnits } from "../core/amounts.ts";
import { type EvmAddress, toEvmAddress } from "../core/hex.ts";
import type { Secret } from "../core/secret.ts";
import type { SecretReader } from "./load.ts";
import type { Price } from "./schema.ts";

const AGE_MAX_S = 3_600;
const DEVIATION_MAX_BPS = 200;
/** What an API said last is used for ten seconds, and must not be too old by then. */
const HTTP_AGE_MIN_S = 30;

export interface PriceConfig {
  /** US dollars per whole unit times 1e18, as the operator wrote it down: for sandboxes and pegged assets. */
  readonly fixed: bigint | undefined;
  /** Feeds on the token's own chain, of the `AggregatorV3Interface` form. */
  readonly feeds: readonly FeedConfig[];
  /** HTTP APIs that answer JSON. */
  readonly http: readonly HttpPriceConfig[];
  /** How far two sources may lie apart, measured on the lower one. */
  readonly maxDeviationBps: number;
}

export interface FeedConfig {
  readonly address: EvmAddress;
  /** What it published longer ago counts as nothing. */
  readonly maxAgeMs: number;
}

export interface HttpPriceConfig {
  /** May hold what others should not see: never shown. */
  readonly url: string;
  readonly headers: ReadonlyMap<string, Secret>;
  /** Where the price is in the answer: the names of a JSON pointer, unescaped. */
  readonly pointer: readonly string[];
  /** Where the time of the price is; undefined where the answer has none. */
  readonly timestampPointer: readonly string[] | undefined;
  /** Decimals that the number in the answer is without. */
  readonly scale: number;
  readonly maxAgeMs: number;
}

/** The sources of one token. */
export function priceOf(
  price: Price,
  setting: string,
  given: { readonly readSecret: SecretReader; readonly problems: string[] },
): PriceConfig {
  const { problems } = given;
  const { maxAgeSeconds = AGE_MAX_S } = price;
  const feeds = (price.feeds ?? []).map((feed) => {
    const { address, maxAgeSeconds: own = maxAgeSeconds } =
      typeof feed === "string" ? { address: feed } : feed;
    return { address: toEvmAddress(address), maxAgeMs: own * 1_000 };
  });
  const http = (price.http ?? []).map((source, index) =>
    httpPriceOf({ maxAgeSeconds, ...source }, `${setting}.http[${index}]`, given),
  );
  if (price.static === undefined && feeds.length === 0 && http.length === 0) {
    problems.push(`${setting}: expected static, feeds or http`);
  }
  for (const [index, { address }] of feeds.entries()) {
    if (feeds.findIndex((feed) => feed.address === address) < index) {
      problems.push(`${setting}.feeds[${index}]: expected each feed once`);
    }
  }
  // Whoever runs a host decides what every URL of it answers: two of its pages are one voice.
  const hosts = http.map(({ url }) => URL.parse(url)?.host);
  for (const [index, host] of hosts.entries()) {
    if (hosts.indexOf(host) < index) {
      problems.push(
        `${setting}.http[${index}].url: expected a host of its own, an earlier source has it too`,
      );
    }
  }
  return {
    fixed: price.static === undefined ? undefined : parseUnits(price.static, 18),
    feeds,
    http,
    maxDeviationBps: price.maxDeviationBps ?? DEVIATION_MAX_BPS,
  };
}

function httpPriceOf(
  source: NonNullable<Price["http"]>[number] & { readonly maxAgeSeconds: number },
  setting: string,
  { readSecret, problems }: { readonly readSecret: SecretReader; readonly problems: string[] },
): HttpPriceConfig {
  const { url, pointer, timestampPointer, scale = 0, maxAgeSeconds } = source;
  const trouble = troubleOf(url);
  if (trouble) problems.push(`${setting}.url: expected ${trouble}`);
  if (maxAgeSeconds < HTTP_AGE_MIN_S) {
    problems.push(`${setting}.maxAgeSeconds: expected at least ${HTTP_AGE_MIN_S} seconds`);
  }
  const headers = Object.entries(source.headers ?? {}).map(([name, ref]): [string, Secret] => {
    const secret = readSecret(ref, `${setting}.headers.${name}`);
    if (!/^[\x20-\x7e]*$/.test(secret.reveal())) {
      problems.push(`${setting}.headers.${name}: expected printable characters of ASCII, one line`);
    }
    return [name, secret];
  });
  return {
    url,
    headers: new Map(headers),
    pointer: namesOf(pointer),
    timestampPointer: timestampPointer === undefined ? undefined : namesOf(timestampPointer),
    scale,
    maxAgeMs: maxAgeSeconds * 1_000,
  };
}

/** What is wrong with a URL that prices are read from; null where nothing is. */
function troubleOf(text: string): string | null {
  const url = URL.parse(text);
  if (!url) return "an https URL";
  if (url.protocol !== "https:" && !isLoopback(url.hostname)) {
    return "https: whoever is on the way of http can set the price";
  }
  if (url.username || url.password) return "no credentials: a secret belongs into headers";
  return url.hash ? "no fragment" : null;
}

function isLoopback(hostname: string): boolean {
  if (hostname === "localhost" || hostname === "[::1]") return true;
  return isIP(hostname) === 4 && hostname.startsWith("127.");
}

/** The names of a JSON pointer (RFC 6901). */
function namesOf(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}
