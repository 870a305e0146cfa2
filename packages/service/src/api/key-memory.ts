/**
 * Remembers which keys were valid lately and from which addresses, by their keyed hash. It admits nobody: a remembered key is
 * looked up like any other. It tells two cases apart without the database: a key that has used up its limit, whose requests
 * cost no look-up, and a client whose neighbours behind one address send wrong keys, who is still served.
 */
import { createHmac } from "node:crypto";
import type { Clock } from "../core/ports.ts";
import type { Secret } from "../core/secret.ts";

/** A key that was valid longer ago is unknown again. */
const REMEMBERED_MS = 60 * 60_000;
const KEYS_MAX = 10_000;
/** Addresses per key, the latest ones. */
const ADDRESSES_MAX = 50;

export interface KeyMemory {
  /** Returns the id of a key that was valid lately, from any address; undefined for any other key. */
  recall(key: unknown): string | undefined;
  /** Returns whether a key was valid lately from this address. */
  wasValidFrom(key: unknown, address: string): boolean;
  remember(key: unknown, valid: { readonly keyId: string; readonly address: string }): void;
  forget(key: unknown): void;
}

interface Remembered {
  readonly keyId: string;
  readonly untilMs: number;
  /** Deadlines by address, the oldest first. */
  readonly addresses: Map<string, number>;
}

/** Creates an empty memory; keys are stored as hashes only. */
export function createKeyMemory({
  clock,
  pepper,
}: {
  readonly clock: Clock;
  readonly pepper: Secret;
}): KeyMemory {
  /** The oldest first. */
  const known = new Map<string, Remembered>();
  const hash = (key: unknown) =>
    typeof key === "string"
      ? createHmac("sha256", pepper.reveal()).update(key.toLowerCase()).digest("base64")
      : "";
  const find = (key: unknown) => {
    const found = known.get(hash(key));
    return found && found.untilMs > clock.now() ? found : undefined;
  };

  return {
    recall: (key) => find(key)?.keyId,
    wasValidFrom: (key, address) => (find(key)?.addresses.get(address) ?? 0) > clock.now(),
    remember(key, { keyId, address }) {
      const name = hash(key);
      const untilMs = clock.now() + REMEMBERED_MS;
      const addresses = known.get(name)?.addresses ?? new Map<string, number>();
      keepNewest(addresses, address, untilMs, ADDRESSES_MAX);
      keepNewest(known, name, { keyId, untilMs, addresses }, KEYS_MAX);
    },
    forget: (key) => void known.delete(hash(key)),
  };
}

/** Puts an entry last, and drops the first one beyond the maximum. */
function keepNewest<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}
