/** Settings of a provider: a profile and its overrides. */
import { SandboxError } from "../errors.ts";
import { asRecord } from "../json-file.ts";
import {
  isProfileName,
  type Limits,
  PROFILE_NAMES,
  type ProfileName,
  profileOf,
} from "./profiles.ts";

/** The settings of a running provider. */
export interface ProviderSettings extends Limits {
  readonly profile: ProfileName;
  /** Milliseconds from a request to its answer, in addition to the node's own time. */
  readonly latencyMs: number;
  /** Most additional milliseconds, evenly distributed. */
  readonly jitterMs: number;
  /** Round trips that a new connection takes before its first request, as TCP and TLS do. */
  readonly connectRoundTrips: number;
  /** Nodes behind the URL; each request is answered by a random one. */
  readonly replicas: number;
  /** Blocks by which the last replica is behind; the others are between it and the head. */
  readonly lagBlocks: number;
  /** Probability that a request's connection is dropped, before or after the node has seen it. */
  readonly drop: number;
  /** Probability that a request is never answered, on a connection that stays open. */
  readonly stall: number;
  /** Probability that a reorg begins before a request is answered. */
  readonly reorg: number;
  /** Blocks that a reorg changes at most; never a final one. */
  readonly reorgDepth: number;
  /** Probability that a request is refused for its rate, whatever the rate. */
  readonly rateErrors: number;
  /** Probability of an HTTP error with an HTML page. */
  readonly htmlErrors: number;
  /** Whether answers are compressed for clients that accept it. */
  readonly gzip: boolean;
  /** Whether WebSockets stay open without a notification. */
  readonly wsSilent: boolean;
}

export type ProviderOverrides = Partial<ProviderSettings>;

const FAULTS_OFF = {
  latencyMs: 0,
  jitterMs: 0,
  connectRoundTrips: 0,
  replicas: 3,
  lagBlocks: 0,
  drop: 0,
  stall: 0,
  reorg: 0,
  reorgDepth: 2,
  rateErrors: 0,
  htmlErrors: 0,
  gzip: false,
  wsSilent: false,
};

/** Returns the settings of a profile with overrides. A new profile brings its own limits. */
export function resolveSettings(overrides: ProviderOverrides): ProviderSettings {
  const profile = overrides.profile ?? "geth-like";
  const { family, limits } = profileOf(profile);
  const settings = { ...FAULTS_OFF, ...limits, ...overrides, profile };
  if (family === "svm" && settings.reorg > 0) {
    throw new SandboxError(
      `reorg ${settings.reorg}: ${profile} has no reorgs; use the control fork of the Solana chain`,
    );
  }
  return settings;
}

const NUMBERS = [
  "latencyMs",
  "jitterMs",
  "connectRoundTrips",
  "replicas",
  "lagBlocks",
  "drop",
  "stall",
  "reorg",
  "reorgDepth",
  "rateErrors",
  "htmlErrors",
] as const;
const LIMITS = [
  "ratePerSecond",
  "retryAfterSeconds",
  "quotaRequests",
  "rangeBlocks",
  "results",
  "bodyBytes",
  "batchItems",
  "stateBlocks",
] as const;
const SWITCHES = ["gzip", "wsSilent", "logsNeedAddress", "emptyForUnknownBlock"] as const;

/** Parses overrides as JSON. Throws a `SandboxError` that names an invalid one. */
export function parseOverrides(input: unknown): ProviderOverrides {
  const record = asRecord(input);
  if (record === undefined) throw new SandboxError("settings: expected an object");
  return Object.assign({}, ...Object.entries(record).map(([name, value]) => parseOne(name, value)));
}

function parseOne(name: string, value: unknown): ProviderOverrides {
  const refuse = (expected: string): never => {
    throw new SandboxError(`${name} ${JSON.stringify(value)}: expected ${expected}`);
  };
  const isCount = typeof value === "number" && Number.isFinite(value) && value >= 0;
  if (NUMBERS.some((known) => known === name)) {
    return isCount ? { [name]: value } : refuse("a number from 0");
  }
  if (LIMITS.some((known) => known === name)) {
    return isCount || value === null ? { [name]: value } : refuse("a number from 0, or null");
  }
  if (SWITCHES.some((known) => known === name)) {
    return typeof value === "boolean" ? { [name]: value } : refuse("true or false");
  }
  if (name === "profile") {
    return typeof value === "string" && isProfileName(value)
      ? { profile: value }
      : refuse(`one of ${PROFILE_NAMES.join(", ")}`);
  }
  if (name === "missingMethods") {
    return Array.isArray(value) && value.every((method) => typeof method === "string")
      ? { missingMethods: value }
      : refuse("a list of methods");
  }
  return refuse("a setting of the provider");
}

/** A provider's address and its node. */
export interface ProviderOptions extends ProviderOverrides {
  /** URL of the node. */
  readonly upstream: string;
  /** Host and port; the loopback interface and any free port by default. */
  readonly host?: string;
  readonly port?: number;
  /** Seed of all random choices. */
  readonly seed?: number;
}

/** Parses options as JSON. Throws a `SandboxError` that names an invalid one. */
export function parseOptions(input: unknown): ProviderOptions {
  const { upstream, host, port = 0, seed = 1, ...overrides } = asRecord(input) ?? {};
  if (typeof upstream !== "string" || !URL.canParse(upstream)) {
    throw new SandboxError("upstream: expected the URL of a node");
  }
  if (typeof port !== "number" || typeof seed !== "number") {
    throw new SandboxError("port and seed: expected numbers");
  }
  return {
    upstream,
    port,
    seed,
    ...(typeof host === "string" ? { host } : {}),
    ...parseOverrides(overrides),
  };
}

/** Returns the blocks by which a replica is behind: the first is at the head, the last `lagBlocks` behind. */
export function lagOfReplica(settings: ProviderSettings, replica: number): number {
  if (settings.replicas < 2) return settings.lagBlocks;
  return Math.round((replica * settings.lagBlocks) / (settings.replicas - 1));
}

/** Reports whether a method is missing. */
export function isMissing(settings: ProviderSettings, method: string): boolean {
  return settings.missingMethods.some((pattern) =>
    pattern.endsWith("*") ? method.startsWith(pattern.slice(0, -1)) : method === pattern,
  );
}
