/**
 * Profiles of providers: the limits of a plan and the provider's own words when one is exceeded. The words are in the tables
 * of refusals, each with its source. Limits differ between plans and chains; these are examples at the low end.
 */
import { NODE_REFUSALS, SOLANA_REFUSALS } from "./refusals/nodes.ts";
import { PROVIDER_REFUSALS } from "./refusals/providers.ts";
import { PUBLIC_REFUSALS } from "./refusals/public.ts";
import type { Refusal } from "./refusal.ts";

/** Every quoted refusal. */
export const REFUSALS = [
  ...PROVIDER_REFUSALS,
  ...PUBLIC_REFUSALS,
  ...NODE_REFUSALS,
  ...SOLANA_REFUSALS,
] as const;

type RefusalId = (typeof REFUSALS)[number]["id"];

/** Returns a refusal by its id, for example `alchemy.range`. */
export function refusalOf(id: RefusalId): Refusal {
  const found = REFUSALS.find((refusal) => refusal.id === id);
  if (found === undefined) throw new Error(`no refusal ${id}`);
  return found;
}

/** The limits of a provider; null for no limit. */
export interface Limits {
  /** Requests per second; each item of a batch is one. */
  readonly ratePerSecond: number | null;
  /** Seconds of the `Retry-After` header of a refusal for its rate; null for no header. */
  readonly retryAfterSeconds: number | null;
  /** Requests of the plan, after which each is refused. */
  readonly quotaRequests: number | null;
  /** Blocks of one `eth_getLogs`. */
  readonly rangeBlocks: number | null;
  /** Logs of one answer. */
  readonly results: number | null;
  /** Bytes of one answer. */
  readonly bodyBytes: number | null;
  /** Items of a batch; 0 for a provider without batches. */
  readonly batchItems: number | null;
  /** Blocks behind the head whose state is served; null for an archive. */
  readonly stateBlocks: number | null;
  /** Methods that the provider lacks; a trailing `*` matches every method with that beginning. */
  readonly missingMethods: readonly string[];
  /** Whether `eth_getLogs` needs an address. */
  readonly logsNeedAddress: boolean;
  /**
   * Whether a lagging replica answers logs of an unknown block hash with an empty list, and not with an error. Some providers
   * do, and not always the same; some of these profiles do, so that both are met.
   */
  readonly emptyForUnknownBlock: boolean;
}

/** The refusal of each limit. */
export interface Words {
  readonly range: RefusalId;
  readonly results: RefusalId;
  readonly size: RefusalId;
  readonly rate: RefusalId;
  readonly quota: RefusalId;
  readonly batch: RefusalId;
  /** The response to a batch that is too large: an error for each call, for the first one, or one without a call. */
  readonly batchForm: "each" | "first" | "none";
  readonly method: RefusalId;
  readonly address: RefusalId;
  /** Logs or state of a block that the replica does not know. */
  readonly unknownBlock: RefusalId;
  /** A range that ends above the replica's head; null for a provider that answers with the logs it has. */
  readonly beyondHead: RefusalId | null;
  readonly pruned: RefusalId;
}

export interface Profile {
  readonly family: "evm" | "svm";
  readonly limits: Limits;
  readonly words: Words;
}

const NO_LIMITS: Limits = {
  ratePerSecond: null,
  retryAfterSeconds: null,
  quotaRequests: null,
  rangeBlocks: null,
  results: null,
  bodyBytes: null,
  batchItems: null,
  stateBlocks: null,
  missingMethods: [],
  logsNeedAddress: false,
  emptyForUnknownBlock: false,
};

const GETH_WORDS: Words = {
  range: "reth.range",
  results: "infura.results-bare",
  size: "geth.size",
  rate: "tenderly.rate",
  quota: "infura.quota-requests",
  batch: "geth.batch",
  batchForm: "first",
  method: "geth.method",
  address: "publicnode.address",
  unknownBlock: "geth.unknown-block",
  beyondHead: "geth.beyond-head",
  pruned: "geth.pruned",
};

const SOLANA_WORDS: Words = {
  ...GETH_WORDS,
  rate: "solana.rate",
  method: "agave.method",
  unknownBlock: "agave.not-available",
  beyondHead: "agave.not-available",
  pruned: "agave.pruned",
};

const TRACES = ["debug_*", "trace_*"];
const MB = 1_000_000;

export const PROFILES = {
  "alchemy-like": {
    family: "evm",
    limits: {
      ...NO_LIMITS,
      ratePerSecond: 25,
      rangeBlocks: 2000,
      results: 10_000,
      bodyBytes: 150 * MB,
      batchItems: 1000,
      missingMethods: TRACES,
      emptyForUnknownBlock: true,
    },
    words: {
      ...GETH_WORDS,
      range: "alchemy.range",
      results: "alchemy.results",
      size: "alchemy.size",
      rate: "alchemy.rate",
      quota: "alchemy.quota",
      method: "alchemy.method",
      beyondHead: null,
    },
  },
  "infura-like": {
    family: "evm",
    limits: {
      ...NO_LIMITS,
      ratePerSecond: 50,
      retryAfterSeconds: 1,
      rangeBlocks: 10_000,
      results: 10_000,
      batchItems: 1000,
      missingMethods: TRACES,
    },
    words: {
      ...GETH_WORDS,
      range: "infura.range",
      results: "infura.results",
      rate: "infura.rate",
      quota: "infura.quota",
      beyondHead: null,
    },
  },
  "quicknode-like": {
    family: "evm",
    limits: { ...NO_LIMITS, ratePerSecond: 50, rangeBlocks: 10_000, batchItems: 1000 },
    words: { ...GETH_WORDS, range: "quicknode.range", rate: "quicknode.rate", beyondHead: null },
  },
  "ankr-like": {
    family: "evm",
    limits: {
      ...NO_LIMITS,
      ratePerSecond: 30,
      rangeBlocks: 3000,
      results: 200_000,
      batchItems: 1000,
      missingMethods: TRACES,
      emptyForUnknownBlock: true,
    },
    words: { ...GETH_WORDS, range: "ankr.range", rate: "ankr.rate", beyondHead: null },
  },
  "publicnode-like": {
    family: "evm",
    limits: {
      ...NO_LIMITS,
      ratePerSecond: 20,
      rangeBlocks: 50_000,
      bodyBytes: 20 * MB,
      batchItems: 100,
      stateBlocks: 128,
      missingMethods: TRACES,
      logsNeedAddress: true,
    },
    words: { ...GETH_WORDS, range: "publicnode.range", pruned: "publicnode.pruned" },
  },
  "drpc-like": {
    family: "evm",
    limits: {
      ...NO_LIMITS,
      ratePerSecond: 40,
      rangeBlocks: 10_000,
      results: 20_000,
      batchItems: 3,
      missingMethods: TRACES,
    },
    words: {
      ...GETH_WORDS,
      range: "drpc.range",
      results: "reth.results",
      rate: "drpc.timeout",
      batch: "drpc.batch",
      batchForm: "each",
      unknownBlock: "geth.header",
    },
  },
  "cloudflare-like": {
    family: "evm",
    limits: {
      ...NO_LIMITS,
      ratePerSecond: 10,
      rangeBlocks: 800,
      batchItems: 0,
      stateBlocks: 128,
      missingMethods: [...TRACES, "eth_getBlockReceipts"],
      emptyForUnknownBlock: true,
    },
    words: {
      ...GETH_WORDS,
      range: "cloudflare.range",
      rate: "cloudflare.rate",
      batchForm: "none",
      beyondHead: null,
    },
  },
  "geth-like": {
    family: "evm",
    limits: { ...NO_LIMITS, bodyBytes: 25 * MB, batchItems: 1000, stateBlocks: 128 },
    words: GETH_WORDS,
  },
  "erigon-like": {
    family: "evm",
    limits: { ...NO_LIMITS, rangeBlocks: 1000, results: 20_000, batchItems: 100 },
    words: {
      ...GETH_WORDS,
      range: "erigon.range",
      results: "erigon.results",
      batch: "erigon.batch",
      batchForm: "none",
      unknownBlock: "erigon.unknown-block",
      beyondHead: "erigon.beyond-head",
      pruned: "erigon.pruned",
    },
  },
  "reth-like": {
    family: "evm",
    limits: { ...NO_LIMITS, rangeBlocks: 100_000, results: 20_000, bodyBytes: 160 * MB },
    words: { ...GETH_WORDS, results: "reth.results", size: "reth.size" },
  },
  "helius-like": {
    family: "svm",
    limits: { ...NO_LIMITS, ratePerSecond: 50, batchItems: 10 },
    words: { ...SOLANA_WORDS, rate: "helius.rate", quota: "helius.quota" },
  },
  "solana-public-like": {
    family: "svm",
    limits: { ...NO_LIMITS, ratePerSecond: 10, retryAfterSeconds: 1, batchItems: 10 },
    words: SOLANA_WORDS,
  },
} as const satisfies Readonly<Record<string, Profile>>;

export type ProfileName = keyof typeof PROFILES;

/** The names of the profiles. */
export const PROFILE_NAMES = Object.keys(PROFILES).filter(isProfileName);

/** Reports whether a text names a profile. */
export function isProfileName(name: string): name is ProfileName {
  return Object.hasOwn(PROFILES, name);
}

/** Returns a profile by its name. */
export function profileOf(name: ProfileName): Profile {
  return PROFILES[name];
}
