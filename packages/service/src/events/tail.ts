/**
 * The live end of the event log. Live and replay are one query: "events of this integrator strictly after my cursor".
 *
 * Each integrator with listeners in this process has one cursor. A wake-up or a poll reads on from it and emits the
 * events to the room. A listener joins between two reads, so it misses no event that is emitted afterwards.
 */
import type { ExtendedEventItem } from "@sluice/sdk/wire";
import type { Db } from "../db/schema.ts";
import { getNewestStamp, listBehind, listExtendedEvents } from "./store.ts";

export interface Tail {
  /**
   * Adds a listener. `enter` is called at the moment from which events are emitted to it, and returns false when the
   * listener has left meanwhile.
   */
  join(integratorId: string, enter: () => boolean): Promise<void>;
  /** Removes a listener. The last one removes the integrator's cursor. */
  leave(integratorId: string): void;
  /** Makes the next run read an integrator's events first, without looking for it: its listeners wait. */
  prefer(integratorId: string): void;
  /** Emits new events of every integrator with listeners. Runs are serialized; called by a loop and after wake-ups. */
  pump(): Promise<void>;
}

/** An integrator with listeners in this process. */
interface Room {
  /** Stamp of the last emitted event. */
  cursor: string;
  listeners: number;
}

const PAGE = 500;
/** Events that are written without a pause, counted once for each listener: other work of the process waits meanwhile. */
const WRITES_MAX = 5_000;
/** A stamp before every event. */
const BEGINNING = "0001-01-01T00:00:00.000Z";

/** Creates the tail of a process. `emit` receives the events of one integrator, in order. */
export function createTail(options: {
  readonly db: Db;
  readonly emit: (integratorId: string, events: readonly ExtendedEventItem[]) => void;
}): Tail {
  const { db, emit } = options;
  const rooms = new Map<string, Room>();
  let pumping: Promise<void> | null = null;
  let again = false;
  const preferred = new Set<string>();

  /**
   * Emits the next page of a room. A room with more pages waits for the next round, so that one busy integrator does not
   * delay the others. A room that was closed during the read is skipped, even when it was opened again.
   */
  async function readOn(integratorId: string): Promise<void> {
    const room = rooms.get(integratorId);
    if (!room) return;
    const limit = Math.max(1, Math.min(PAGE, Math.floor(WRITES_MAX / room.listeners)));
    const page = { since: room.cursor, limit };
    const { items, more } = await listExtendedEvents(db, integratorId, page);
    const newest = items.at(-1);
    if (!newest || rooms.get(integratorId) !== room) return;
    room.cursor = newest.timestamp;
    emit(integratorId, items);
    if (more) again = true;
  }

  async function readAll(): Promise<void> {
    do {
      again = false;
      const first = [...preferred];
      preferred.clear();
      for (const integratorId of first) await readOn(integratorId);
      const cursors = new Map([...rooms].map(([id, room]) => [id, room.cursor]));
      for (const integratorId of await listBehind(db, cursors)) await readOn(integratorId);
    } while (again);
  }

  return {
    async join(integratorId, enter) {
      const newest = rooms.has(integratorId)
        ? BEGINNING
        : ((await getNewestStamp(db, integratorId)) ?? BEGINNING);
      // No await from here on, so that the listener enters at the room's cursor.
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
    prefer(integratorId) {
      if (rooms.has(integratorId)) preferred.add(integratorId);
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
