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

/** A key as received, hashed once, and the memory of it. */
export interface PresentedKey {
  /** The text in the request; anything but a string is no key. */
  readonly text: unknown;
  /** Returns the id of a key that was valid lately, from any address; undefined for any other key. */
  recall(): string | undefined;
  /** Returns whether the key was valid lately from this address. */
  wasValidFrom(address: string): boolean;
  remember(valid: { readonly keyId: string; readonly address: string }): void;
  forget(): void;
}

export interface KeyMemory {
  /** Hashes a key as received. Remembers nothing yet. */
  present(text: unknown): PresentedKey;
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

  return {
    present(text) {
      const name = hash(text);
      const find = () => {
        const found = known.get(name);
        return found && found.untilMs > clock.now() ? found : undefined;
      };
      return {
        text,
        recall: () => find()?.keyId,
        wasValidFrom: (address) => (find()?.addresses.get(address) ?? 0) > clock.now(),
        remember({ keyId, address }) {
          const untilMs = clock.now() + REMEMBERED_MS;
          const addresses = known.get(name)?.addresses ?? new Map<string, number>();
          keepNewest(addresses, address, untilMs, ADDRESSES_MAX);
          keepNewest(known, name, { keyId, untilMs, addresses }, KEYS_MAX);
        },
        forget: () => void known.delete(name),
      };
    },
  };
}

/** Puts an entry last, and drops the first one beyond the maximum. */
function keepNewest<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}
