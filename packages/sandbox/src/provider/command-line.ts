/** The command line of `sluice-provider`. */
import { parseArgs } from "node:util";
import { SandboxError } from "../errors.ts";
import { isProfileName, PROFILE_NAMES } from "./profiles.ts";
import type { ProviderOptions, ProviderOverrides } from "./settings.ts";

export const HELP = `Usage: sluice-provider --upstream URL [options]

Serves a node the way a provider does: its latency, its limits in its own words, its faults. Limits come
from the profile; each can be overridden, and "none" removes one.

  --upstream URL        the node behind the provider
  --listen HOST:PORT    address of the provider (default 127.0.0.1:8600, port 0 for any free port)
  --profile NAME        ${PROFILE_NAMES.slice(0, 5).join(", ")},
                        ${PROFILE_NAMES.slice(5, 10).join(", ")},
                        ${PROFILE_NAMES.slice(10).join(", ")} (default geth-like)
  --latency MS          time from a request to its answer, beyond the node's own
  --jitter MS           up to so much more
  --connect N           round trips that a new connection takes before its first request
  --rate N              requests per second; each item of a batch is one
  --retry-after S       seconds in the Retry-After header of a refusal for its rate
  --quota N             requests of the plan, after which each is refused
  --replicas N          nodes behind the URL, a random one answers each request (default 3)
  --lag BLOCKS          blocks by which the last replica is behind; others are in between
  --range BLOCKS        blocks of one eth_getLogs
  --results N           logs of one answer
  --body BYTES          bytes of one answer
  --batch N|off         items of a batch
  --state BLOCKS        blocks below the head whose state is served
  --no-method A,B       missing methods; a trailing * matches every method with that beginning
  --drop P              probability that a connection is dropped
  --stall P             probability that a request is never answered
  --reorg P             probability that a reorg begins before an answer
  --reorg-depth BLOCKS  blocks that a reorg changes at most (default 2)
  --rate-errors P       probability of a refusal for the rate, whatever the rate
  --html-errors P       probability of an HTTP error with an HTML page
  --gzip                compress answers for clients that accept it
  --ws-silent           WebSockets stay open without notifications
  --seed N              seed of all chances (default 1)
  --help                print this text

GET /stats counts requests by method, refusals and bytes; DELETE /stats begins new counts. POST /settings
changes settings of a running provider, GET /settings reads them.
`;

/** Parses the arguments. Throws a `SandboxError` that names an invalid one. */
export function parseCommandLine(args: readonly string[]): ProviderOptions {
  const values = parseOptions(args);
  const { upstream } = values;
  if (upstream === undefined || !URL.canParse(upstream)) {
    throw new SandboxError("--upstream: expected the URL of a node: run sluice-provider --help");
  }
  return {
    upstream,
    ...parseListen(values.listen ?? "127.0.0.1:8600"),
    ...parseProfile(values.profile),
    ...parseNumbers(values),
    ...(values.batch === "off"
      ? { batchItems: 0 }
      : parseLimit("batchItems", "batch", values.batch)),
    ...(values["no-method"] === undefined
      ? {}
      : { missingMethods: values["no-method"].split(",").filter((name) => name !== "") }),
    ...(values.gzip ? { gzip: true } : {}),
    ...(values["ws-silent"] ? { wsSilent: true } : {}),
  };
}

function parseOptions(args: readonly string[]) {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        upstream: text,
        listen: text,
        profile: text,
        latency: text,
        jitter: text,
        connect: text,
        rate: text,
        "retry-after": text,
        quota: text,
        replicas: text,
        lag: text,
        range: text,
        results: text,
        body: text,
        batch: text,
        state: text,
        "no-method": text,
        drop: text,
        stall: text,
        reorg: text,
        "reorg-depth": text,
        "rate-errors": text,
        "html-errors": text,
        gzip: flag,
        "ws-silent": flag,
        seed: text,
        help: { ...flag, short: "h" },
      },
    }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new SandboxError(`${error.message.split(". ")[0]}: run sluice-provider --help`);
  }
}

type Values = ReturnType<typeof parseOptions>;

function parseNumbers(values: Values): Partial<ProviderOptions> {
  return {
    ...parseNumber("latencyMs", "latency", values.latency),
    ...parseNumber("jitterMs", "jitter", values.jitter),
    ...parseNumber("connectRoundTrips", "connect", values.connect),
    ...parseNumber("replicas", "replicas", values.replicas),
    ...parseNumber("lagBlocks", "lag", values.lag),
    ...parseNumber("reorgDepth", "reorg-depth", values["reorg-depth"]),
    ...parseNumber("seed", "seed", values.seed),
    ...parseProbability("drop", "drop", values.drop),
    ...parseProbability("stall", "stall", values.stall),
    ...parseProbability("reorg", "reorg", values.reorg),
    ...parseProbability("rateErrors", "rate-errors", values["rate-errors"]),
    ...parseProbability("htmlErrors", "html-errors", values["html-errors"]),
    ...parseLimit("ratePerSecond", "rate", values.rate),
    ...parseLimit("retryAfterSeconds", "retry-after", values["retry-after"]),
    ...parseLimit("quotaRequests", "quota", values.quota),
    ...parseLimit("rangeBlocks", "range", values.range),
    ...parseLimit("results", "results", values.results),
    ...parseLimit("bodyBytes", "body", values.body),
    ...parseLimit("stateBlocks", "state", values.state),
  };
}

function parseListen(listen: string): { readonly host: string; readonly port: number } {
  const at = listen.lastIndexOf(":");
  const host = listen.slice(0, at).replace(/^\[(.*)\]$/, "$1");
  const port = Number(listen.slice(at + 1));
  if (at < 1 || !/^\d{1,5}$/.test(listen.slice(at + 1)) || port > 65_535) {
    throw new SandboxError(`--listen ${listen}: expected HOST:PORT, for example 127.0.0.1:8600`);
  }
  return { host, port };
}

function parseProfile(profile: string | undefined): ProviderOverrides {
  if (profile === undefined) return {};
  if (isProfileName(profile)) return { profile };
  throw new SandboxError(`--profile ${profile}: expected one of ${PROFILE_NAMES.join(", ")}`);
}

function parseNumber(setting: string, option: string, text: string | undefined) {
  if (text === undefined) return {};
  if (!/^\d+(\.\d+)?$/.test(text)) {
    throw new SandboxError(`--${option} ${text}: expected a number from 0`);
  }
  return { [setting]: Number(text) };
}

function parseProbability(setting: string, option: string, text: string | undefined) {
  if (text !== undefined && !(Number(text) >= 0 && Number(text) <= 1)) {
    throw new SandboxError(`--${option} ${text}: expected a probability from 0 to 1`);
  }
  return parseNumber(setting, option, text);
}

function parseLimit(setting: string, option: string, text: string | undefined) {
  return text === "none" ? { [setting]: null } : parseNumber(setting, option, text);
}
