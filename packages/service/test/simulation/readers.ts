/** Clients that page through the events of their integrator during the run, as replay does. */
import { listExtendedEvents } from "../../src/events/index.ts";
import { Broken } from "./broken.ts";
import type { SharedDatabase } from "./database.ts";
import type { Process } from "./lives.ts";

const PAUSE_MS = 2_000;

export interface Readers {
  /** Throws if a reader missed an event, saw one twice, or saw events out of order. */
  check(database: SharedDatabase): Promise<void>;
}

/** Starts one reader per integrator; their errors go to `guard`. */
export function startReaders(api: Process, guard: (work: Promise<unknown>) => void): Readers {
  const { db, clock } = api.context;
  const seen = new Map<string, string[]>();
  const cursors = new Map<string, string>();

  async function follow(integratorId: string, limit: number): Promise<never> {
    for (;;) {
      const { items } = await listExtendedEvents(db, integratorId, {
        since: cursors.get(integratorId),
        limit,
      });
      seen.set(integratorId, [...(seen.get(integratorId) ?? []), ...items.map(({ id }) => id)]);
      const last = items.at(-1);
      if (last) cursors.set(integratorId, last.timestamp);
      else await clock.sleep(PAUSE_MS);
    }
  }

  async function start(): Promise<void> {
    const integrators = await db.selectFrom("integrators").select("id").orderBy("name").execute();
    for (const [index, { id }] of integrators.entries()) guard(follow(id, 1 + index * 3));
  }

  guard(start());
  return {
    async check(database) {
      for (const [integratorId, cursor] of cursors) {
        const rows = await database.query<{ id: string }>(
          `select id from events where integrator_id = $1 and created_at <= $2 order by created_at`,
          [integratorId, cursor],
        );
        const [read, written] = [seen.get(integratorId)?.join(), rows.map(({ id }) => id).join()];
        if (read !== written) throw new Broken(`E3: a reader saw ${read}, written was ${written}`);
      }
    },
  };
}
