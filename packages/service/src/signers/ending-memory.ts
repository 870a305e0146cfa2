/**
 * The signer's memory of the locks for which it signed a claim or a return. It has an entry for every settlement of weeks, so an
 * entry takes tens of bytes: the id in bytes, in the set of its day.
 */
import type { Hex32 } from "../core/hex.ts";
import { DAY_MS } from "./daily-sum.ts";

export type Ending = "claim" | "return";

/** The end of each lock that this signer attested. */
export interface EndingMemory {
  /** Returns the signed end of a lock by its delivery id, of which there is one kind at most; undefined if none is remembered. */
  get(deliveryId: Hex32): Ending | undefined;
  /** Also called for every journal entry at start, the oldest first. */
  remember(deliveryId: Hex32, ending: Ending, atMs: number): void;
  /** Forgets the days that ended before a time, in milliseconds since the epoch. */
  forgetBefore(ms: number): void;
}

type Day = Readonly<Record<Ending, Set<string>>>;

export function createEndingMemory(): EndingMemory {
  /** By days since the epoch. */
  const days = new Map<number, Day>();

  function dayOf(atMs: number): Day {
    const number = Math.floor(atMs / DAY_MS);
    const day = days.get(number) ?? { claim: new Set(), return: new Set() };
    days.set(number, day);
    return day;
  }

  return {
    get(deliveryId) {
      const key = pack(deliveryId);
      for (const day of days.values()) {
        if (day.claim.has(key)) return "claim";
        if (day.return.has(key)) return "return";
      }
      return undefined;
    },
    remember: (deliveryId, ending, atMs) => void dayOf(atMs)[ending].add(pack(deliveryId)),
    forgetBefore(ms) {
      for (const number of days.keys()) if ((number + 1) * DAY_MS <= ms) days.delete(number);
    },
  };
}

/** Returns an id as a string of 32 one-byte characters, half as long as its hex digits. */
function pack(id: Hex32): string {
  return Buffer.from(id.slice(2), "hex").toString("latin1");
}
