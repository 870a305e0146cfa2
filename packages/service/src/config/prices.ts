/** Price sources: their entries in the file, and their resolved form. */
import { isIP } from "node:net";
import { type Static, Type } from "typebox";
import { parseUnits } from "../core/amounts.ts";
import type { Frozen } from "../core/frozen.ts";
import { toEvmAddress } from "../core/hex.ts";
import type { Secret } from "../core/secret.ts";
import { SecretRef, type SecretReader } from "./secrets.ts";
import { Bps, EvmAddressText, setting, Url, UsdPerUnitText } from "./values.ts";

/** Default maximum age of a price, in seconds; feeds with a longer heartbeat need their own. */
const AGE_MAX_S = 3_600;
/** Default maximum difference between two sources, in basis points. */
const DEVIATION_MAX_BPS = 200;
/** An answer is cached for ten seconds and must not expire within them. */
const HTTP_AGE_MIN_S = 30;

const strict = { additionalProperties: false };

const MaxAgeSeconds = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 604_800, description: "seconds, 1 to 604800" }),
);
const JsonPointer = Type.String({
  pattern: "^(/([^~/]|~[01])*)+$",
  maxLength: 256,
  description: "a JSON pointer, such as /data/amount",
});

/** A price in the JSON answer of an HTTP API. */
export const HttpPrice = Type.Object(
  {
    url: setting(Url, "`https`; `http` on the loopback only. No credentials in it."),
    pointer: setting(
      JsonPointer,
      "JSON pointer (RFC 6901) to the price in US dollars: a number, or a string that contains one, read exactly.",
    ),
    timestampPointer: setting(
      Type.Optional(JsonPointer),
      "JSON pointer to the time of the price: Unix seconds, Unix milliseconds, or ISO 8601 with a zone.",
      { defaultText: "none: the price has the time of its answer" },
    ),
    scale: setting(
      Type.Optional(
        Type.Integer({ minimum: 0, maximum: 36, description: "a number of decimals, 0 to 36" }),
      ),
      "The number in the answer is divided by 10 to this power: with 8, `123456789` means 1.23456789.",
      { default: 0 },
    ),
    headers: setting(
      Type.Optional(
        Type.Record(Type.String({ pattern: "^[A-Za-z0-9-]+$" }), SecretRef, {
          additionalProperties: false,
          description: "secrets by the name of their header",
        }),
      ),
      'Headers of the request, such as `{ "x-cg-demo-api-key": { "env": "COINGECKO_KEY" } }`.',
      { default: {} },
    ),
    maxAgeSeconds: setting(
      MaxAgeSeconds,
      `The maximum age of its price, at least ${HTTP_AGE_MIN_S}.`,
      {
        defaultText: "that of `price`",
      },
    ),
  },
  { additionalProperties: false, description: "an object with url and pointer" },
);

/** The price sources of a token, as written. */
export const Price = Type.Object(
  {
    static: setting(
      Type.Optional(UsdPerUnitText),
      "A fixed price: for the sandbox, or to bound how far the other sources of a pegged asset may be from its peg.",
      { defaultText: "none" },
    ),
    feeds: setting(
      Type.Optional(
        Type.Array(
          Type.Union(
            [
              EvmAddressText,
              Type.Object({ address: EvmAddressText, maxAgeSeconds: MaxAgeSeconds }, strict),
            ],
            { description: "the address of a feed, or an object with address and maxAgeSeconds" },
          ),
          { minItems: 1, maxItems: 8, description: "1 to 8 price feeds on the chain" },
        ),
      ),
      'Feeds of type AggregatorV3 on the chain: an address, or `{ "address": …, "maxAgeSeconds": … }`.',
      { defaultText: "none" },
    ),
    http: setting(
      Type.Optional(
        Type.Array(HttpPrice, { minItems: 1, maxItems: 8, description: "1 to 8 HTTP APIs" }),
      ),
      "HTTP APIs that answer JSON, each on a different host.",
      { defaultText: "none" },
    ),
    maxAgeSeconds: setting(
      MaxAgeSeconds,
      "The maximum age of a price, for sources without one of their own.",
      { default: AGE_MAX_S },
    ),
    maxDeviationBps: setting(
      Type.Optional(Bps),
      "The largest difference between any two sources, relative to the lower one.",
      { default: DEVIATION_MAX_BPS },
    ),
  },
  { additionalProperties: false, description: "an object with static, feeds or http" },
);

/** The resolved price sources of a token. */
export interface PriceConfig extends Frozen<ReturnType<typeof resolvePrice>> {}
export type FeedConfig = PriceConfig["feeds"][number];
export type HttpPriceConfig = PriceConfig["http"][number];

/** Inputs for resolving price sources. Mistakes are added to `problems`. */
interface Given {
  readonly readSecret: SecretReader;
  readonly problems: string[];
}

/** Resolves the price sources of a token. */
export function resolvePrice(price: Static<typeof Price>, setting: string, given: Given) {
  const { problems } = given;
  const { maxAgeSeconds = AGE_MAX_S } = price;
  const feeds = (price.feeds ?? []).map((feed) => {
    const { address, maxAgeSeconds: own = maxAgeSeconds } =
      typeof feed === "string" ? { address: feed } : feed;
    // An answer older than this is a fault of the source.
    return { address: toEvmAddress(address), maxAgeMs: own * 1_000 };
  });
  const http = (price.http ?? []).map((source, index) =>
    resolveHttpPrice({ maxAgeSeconds, ...source }, `${setting}.http[${index}]`, given),
  );
  if (price.static === undefined && feeds.length === 0 && http.length === 0) {
    problems.push(`${setting}: expected static, feeds or http`);
  }
  // The same source twice would count as two that agree.
  for (const [index, { address }] of feeds.entries()) {
    if (feeds.findIndex((feed) => feed.address === address) < index) {
      problems.push(`${setting}.feeds[${index}]: expected each feed once`);
    }
  }
  // One operator controls every URL of a host, so two sources on it are not independent.
  const hosts = http.map(({ url }) => URL.parse(url)?.host);
  for (const [index, host] of hosts.entries()) {
    if (hosts.indexOf(host) < index) {
      problems.push(
        `${setting}.http[${index}].url: expected a host of its own, an earlier source has it too`,
      );
    }
  }
  return {
    /** US dollars per whole token times 1e18, fixed by the operator: for sandboxes and pegged assets. */
    fixed: price.static === undefined ? undefined : parseUnits(price.static, 18),
    /** Feeds on the token's chain with the `AggregatorV3Interface`. */
    feeds,
    /** HTTP APIs with JSON answers. */
    http,
    /** Maximum difference between two sources, in basis points of the lower price. */
    maxDeviationBps: price.maxDeviationBps ?? DEVIATION_MAX_BPS,
  };
}

function resolveHttpPrice(
  source: Static<typeof HttpPrice> & { readonly maxAgeSeconds: number },
  setting: string,
  { readSecret, problems }: Given,
) {
  const { url, pointer, timestampPointer, scale = 0, maxAgeSeconds } = source;
  const wanted = wantedOf(url);
  if (wanted) problems.push(`${setting}.url: expected ${wanted}`);
  if (maxAgeSeconds < HTTP_AGE_MIN_S) {
    problems.push(`${setting}.maxAgeSeconds: expected at least ${HTTP_AGE_MIN_S} seconds`);
  }
  const headers = Object.entries(source.headers ?? {}).map(([name, ref]): [string, Secret] => {
    const secret = readSecret(ref, `${setting}.headers.${name}`);
    // A line break in a header would fail every request at run time.
    if (!/^[\x20-\x7e]*$/.test(secret.reveal())) {
      problems.push(`${setting}.headers.${name}: expected printable characters of ASCII, one line`);
    }
    return [name, secret];
  });
  return {
    /** Can contain a secret, so it is never printed. */
    url,
    headers: new Map(headers),
    /** JSON pointer to the price in the answer, as unescaped names. */
    pointer: namesOf(pointer),
    /** JSON pointer to the timestamp of the price; undefined if the answer has none. */
    timestampPointer: timestampPointer === undefined ? undefined : namesOf(timestampPointer),
    /** Decimals of the number in the answer: it is divided by 10 to this power. */
    scale,
    maxAgeMs: maxAgeSeconds * 1_000,
  };
}

/** Returns the expected form of a price URL for an error message, or null if the URL is valid. */
function wantedOf(text: string): string | null {
  const url = URL.parse(text);
  if (!url) return "an https URL";
  if (url.protocol !== "https:" && !isLoopback(url.hostname)) {
    return "https: over http, anybody between can change the price";
  }
  if (url.username || url.password) return "no credentials: put a secret into headers";
  return url.hash ? "no fragment" : null;
}

/** Returns whether a host is this machine, where plain http cannot be intercepted. */
function isLoopback(hostname: string): boolean {
  if (hostname === "localhost" || hostname === "[::1]") return true;
  return isIP(hostname) === 4 && hostname.startsWith("127.");
}

/** Returns the names of a JSON pointer (RFC 6901). */
function namesOf(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
}
