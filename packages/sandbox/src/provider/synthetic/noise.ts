/** The traffic of strangers: accounts, tokens and bytes that look like a real chain's and cost little to make. */
import { createHash } from "node:crypto";

/** Strangers who send and receive; a small pool, so that their bloom bits are computed once. */
const ACCOUNTS = 4096;
const OTHER_TOKENS = 50;
/** Characters of random hex that bytes are cut from. */
const HEX_POOL = 1 << 16;
/** Longest cut. */
const CUT_MAX = 4096;

export interface Noise {
  readonly accounts: readonly string[];
  /** The same accounts as topics of 32 bytes. */
  readonly accountTopics: readonly string[];
  readonly otherTokens: readonly string[];
  /** Reports whether an address, as a topic of 32 bytes, is one of the strangers. */
  isAccount(topic: string): boolean;
  /** Returns random hex characters; the same for the same offset. */
  cut(offset: number, length: number): string;
}

export function createNoise(seed: number): Noise {
  const accounts = derive(seed, "account", ACCOUNTS);
  const accountTopics = accounts.map(toTopic);
  const topics = new Set(accountTopics);
  let hex = "";
  for (let index = 0; hex.length < HEX_POOL + CUT_MAX; index += 1) {
    hex += createHash("sha512").update(`${seed} bytes ${index}`).digest("hex");
  }
  return {
    accounts,
    accountTopics,
    otherTokens: derive(seed, "token", OTHER_TOKENS),
    isAccount: (topic) => topics.has(topic),
    cut: (offset, length) => {
      const from = offset % HEX_POOL;
      return hex.slice(from, from + length);
    },
  };
}

function derive(seed: number, kind: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const digest = createHash("sha256").update(`${seed} ${kind} ${index}`).digest("hex");
    return `0x${digest.slice(0, 40)}`;
  });
}

/** Returns an address as a topic of 32 bytes. */
export function toTopic(address: string): string {
  return `0x${address.slice(2).padStart(64, "0")}`;
}
