/**
 * The live end of the event log. Live and replay are one query: "events of this integrator strictly after my cursor".
 *
 * One cursor per integrator that somebody listens to. A wake-up, or the poll, reads on from it and hands what it finds
 * to the room. Somebody who joins is let in between two reads, so it misses nothing that is handed out afterwards.
 */
import type { EventItem } from "@sluice/sdk/wire";
import type { Db } from "../db/schema.ts";
import { getNewestStamp, listBehind, listEvents } from "./store.ts";

export interface Tail {
  /**
   * Lets somebody listen from now on; `enter` is called at the moment from which on events are handed out, and says
   * whether the listener is still there.
   */
  join(integratorId: string, enter: () => boolean): Promise<void>;
  /** Says that a listener has gone. The integrator is forgotten with the last one. */
  leave(integratorId: string): void;
  /** Reads on wherever somebody listens and is behind. Called by a loop, and after wake-ups; one at a time. */
  pump(): Promise<void>;
}

/** An integrator that somebody in this process listens to. */
interface Room {
  /** Stamp of the last event handed out. */
  cursor: string;
  listeners: number;
}

const PAGE = 500;
/** Before every event. */
const BEGINNING = "0001-01-01T00:00:00.000Z";

/** Creates the tail of a process. `emit` hands events, in order, to the listeners of an integrator in this process. */
export function createTail(options: {
  readonly db: Db;
  readonly emit: (integratorId: string, events: readonly EventItem[]) => void;
}): Tail {
  const { db, emit } = options;
  const rooms = new Map<string, Room>();
  let pumping: Promise<void> | null = null;
  let again = false;

  /**
   * Hands out the next page of a room; whoever has more waits for the next round, so that one busy integrator does not
   * hold up the others. A room that was left meanwhile is another one when somebody comes back.
   */
  async function readOn(integratorId: string): Promise<void> {
    const room = rooms.get(integratorId);
    if (!room) return;
    const page = { since: room.cursor, limit: PAGE };
    const { items, more } = await listEvents(db, integratorId, page);
    const newest = items.at(-1);
    if (!newest || rooms.get(integratorId) !== room) return;
    room.cursor = newest.timestamp;
    emit(integratorId, items);
    if (more) again = true;
  }

  async function readAll(): Promise<void> {
    do {
      again = false;
      const cursors = new Map([...rooms].map(([id, room]) => [id, room.cursor]));
      for (const integratorId of await listBehind(db, cursors)) await readOn(integratorId);
    } while (again);
  }

  return {
    async join(integratorId, enter) {
      const newest = rooms.has(integratorId)
        ? BEGINNING
        : ((await getNewestStamp(db, integratorId)) ?? BEGINNING);
      // No await from here on: whoever enters has the room's cursor.
      if (!enter()) return;
      const room = rooms.get(integratorId) ?? { cursor: newest, listeners: 0 };
      room.listeners += 1;
      rooms.set(integratorId, room);
    },
    leave(integratorId) {
      const room = rooms.get(integratorId);
      if (!room) return;
      room.listeners -= 1;
      if (room.listeners === 0) rooms.delete(integratorId);
    },
    pump() {
      again = true;
      pumping ??= readAll().finally(() => {
        pumping = null;
      });
      return pumping;
    },
  };
}
