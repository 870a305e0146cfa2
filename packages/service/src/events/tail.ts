/**
 * The live end of the event log. Live and replay are one query: "events of this integrator strictly after my cursor".
 *
 * One cursor per integrator that somebody listens to. A wake-up, or the poll, reads on from it and hands what it finds
 * to the room. Somebody who joins is let in between two reads, so it misses nothing that is handed out afterwards.
 */
import type { EventItem } from "@sluice/sdk/wire";
import type { Db } from "../db/schema.ts";
import { getNewestStamp, listEvents } from "./store.ts";

export interface Tail {
  /** Lets somebody listen from now on; `enter` is called at the moment from which on events are handed out. */
  join(integratorId: string, enter: () => void): Promise<void>;
  /** Forgets an integrator that nobody listens to any more. */
  leave(integratorId: string): void;
  /** Says that an integrator may have new events. */
  wake(integratorId: string): void;
  /** Reads on wherever somebody listens. Called by a loop, and after wake-ups; one at a time. */
  pump(): Promise<void>;
}

const PAGE = 500;
/** Before every event. */
const BEGINNING = "0001-01-01T00:00:00.000Z";

/** Creates the tail of a process. `emit` hands one event to the listeners of an integrator in this process. */
export function createTail(options: {
  readonly db: Db;
  readonly emit: (integratorId: string, event: EventItem) => void;
}): Tail {
  const { db, emit } = options;
  const cursors = new Map<string, string>();
  let pumping: Promise<void> | null = null;
  let again = false;

  async function readOn(integratorId: string): Promise<void> {
    for (;;) {
      const cursor = cursors.get(integratorId);
      if (cursor === undefined) return;
      const { items, more } = await listEvents(db, integratorId, { since: cursor, limit: PAGE });
      // Whoever left and came back meanwhile has a new cursor, which is further on.
      if (cursors.get(integratorId) !== cursor) continue;
      for (const event of items) emit(integratorId, event);
      const newest = items.at(-1);
      if (newest) cursors.set(integratorId, newest.timestamp);
      if (!more) return;
    }
  }

  async function pump(): Promise<void> {
    do {
      again = false;
      await Promise.all([...cursors.keys()].map(readOn));
    } while (again);
  }

  return {
    async join(integratorId, enter) {
      if (!cursors.has(integratorId)) {
        const newest = (await getNewestStamp(db, integratorId)) ?? BEGINNING;
        if (!cursors.has(integratorId)) cursors.set(integratorId, newest);
      }
      enter();
    },
    leave: (integratorId) => void cursors.delete(integratorId),
    wake(integratorId) {
      if (cursors.has(integratorId)) void this.pump();
    },
    pump() {
      if (pumping) {
        again = true;
        return pumping;
      }
      pumping = pump().finally(() => {
        pumping = null;
      });
      return pumping;
    },
  };
}
