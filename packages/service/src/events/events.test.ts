import { sql } from "kysely";
import type { EventItem, ExtendedEventItem, StatusChangedData } from "@sluice/sdk/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import type { Db } from "../db/schema.ts";
import { systemRandom } from "../roles/system-ports.ts";
import {
  appendEvent,
  appendEvents,
  createTail,
  getNewestStamp,
  listEvents,
  listExtendedEvents,
  lockStamps,
} from "./index.ts";
import { listBehind } from "./store.ts";

const WRITERS = 16;
const EVENTS_PER_WRITER = 40;

let database: TestDatabase;
let db: Db;
let tenant: string;
let other: string;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ db } = database);
});
afterAll(() => database.drop());
beforeEach(async () => {
  tenant = await insertIntegrator();
  other = await insertIntegrator();
});

async function insertIntegrator(): Promise<string> {
  const id = systemRandom.uuid();
  await db
    .insertInto("integrators")
    .values({ id, name: id, refund_evm: "0x", max_fee_bps: 0, max_slippage_bps: 0 })
    .execute();
  return id;
}

function append(integratorId: string, mark: string): Promise<void> {
  return db.transaction().execute((tx) => appendIn(tx, integratorId, mark));
}

function appendIn(tx: Parameters<typeof appendEvent>[0], integratorId: string, mark: string) {
  // CAST: these tests only identify events; the rest of the payload is not read.
  const data = { queueItemId: mark } as StatusChangedData;
  return appendEvent(tx, systemRandom, { integratorId, type: "status_changed", data });
}

const markOf = (event: Pick<ExtendedEventItem, "data">) =>
  "queueItemId" in event.data ? event.data.queueItemId : "";

/** Appends with concurrent writers, some slow, some rolled back. Returns the committed marks. */
async function writeMany(integratorId: string): Promise<string[]> {
  const committed: string[] = [];
  const writers = Array.from({ length: WRITERS }, async (_, writer) => {
    for (let n = 0; n < EVENTS_PER_WRITER; n += 1) {
      const mark = `${writer}-${n}`;
      const rolledBack = n % 10 === 9;
      await db
        .transaction()
        .execute(async (tx) => {
          if (n % 7 === writer % 7) await sql`select pg_sleep(0.003)`.execute(tx);
          await appendIn(tx, integratorId, mark);
          if (n % 11 === 0) await sql`select pg_sleep(0.003)`.execute(tx);
          if (rolledBack) throw new Error("rolled back");
          committed.push(mark);
        })
        .catch((error: unknown) => {
          if (!rolledBack) throw error;
        });
    }
  });
  await Promise.all(writers);
  return committed.sort();
}

/** Pages through the replay, as a client does, until `isDone` at the end of the log. */
async function replay(integratorId: string, limit: number, isDone: () => boolean) {
  const seen: EventItem[] = [];
  let since: string | undefined;
  for (;;) {
    const done = isDone();
    const { items, more } = await listEvents(db, integratorId, { since, limit });
    seen.push(...items);
    since = items.at(-1)?.timestamp ?? since;
    if (done && !more) return seen;
  }
}

function expectStrictlyIncreasing(stamps: readonly string[]): void {
  for (const [index, stamp] of stamps.entries()) {
    expect(stamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(stamp > (stamps[index - 1] ?? "")).toBe(true);
  }
}

describe("event log", () => {
  test("strictly increases stamps and hides no event from a reader at the head under 16 writers [T91]", async () => {
    let written = false;
    const writing = writeMany(tenant).finally(() => (written = true));
    const readers = [1, 7, 50].map((limit) => replay(tenant, limit, () => written));
    const committed = await writing;
    expect(committed).toHaveLength((WRITERS * EVENTS_PER_WRITER * 9) / 10);
    for (const seen of await Promise.all(readers)) {
      expect(seen.map(markOf).sort()).toEqual(committed);
      expectStrictlyIncreasing(seen.map((event) => event.timestamp));
    }
  });

  test("gives the next stamp after the newest one while the clock is an hour behind [T57]", async () => {
    await append(tenant, "before the clock stepped back");
    await sql`update events set created_at = created_at + interval '1 hour'
      where integrator_id = ${tenant}::uuid`.execute(db);
    const newest = await getNewestStamp(db, tenant);
    await append(tenant, "first");
    await append(tenant, "second");
    const { items } = await listEvents(db, tenant, { since: newest ?? undefined, limit: 10 });
    expect(items.map(markOf)).toEqual(["first", "second"]);
    const after = items.map(({ timestamp }) => Date.parse(timestamp) - Date.parse(newest ?? ""));
    expect(after).toEqual([1, 2]);
  });

  test("keeps the order of events that are appended together, of each integrator [T91]", async () => {
    const mixed = Array.from({ length: 60 }, (_, n) => ({
      integratorId: n % 3 === 0 ? other : tenant,
      type: "status_changed" as const,
      data: { queueItemId: `${n}` },
    }));
    const halves = [mixed.slice(0, 30), mixed.slice(30)];
    for (const half of halves) {
      await db.transaction().execute((tx) => appendEvents(tx, systemRandom, half));
    }
    for (const integratorId of [tenant, other]) {
      const { items } = await listEvents(db, integratorId, { limit: 100 });
      const own = mixed.filter((event) => event.integratorId === integratorId);
      expect(items.map(markOf)).toEqual(own.map(({ data }) => data.queueItemId));
      expectStrictlyIncreasing(items.map(({ timestamp }) => timestamp));
    }
  });

  test("never lets two writers of two integrators wait for each other [T313]", async () => {
    const event = (integratorId: string) => ({
      integratorId,
      type: "status_changed" as const,
      data: { queueItemId: "" },
    });
    const orders = [
      [tenant, other],
      [other, tenant],
    ];
    const writers = Array.from({ length: 40 }, (_, n) =>
      db
        .transaction()
        .execute((tx) => appendEvents(tx, systemRandom, (orders[n % 2] ?? []).map(event))),
    );
    await Promise.all(writers);
    expect((await listEvents(db, other, { limit: 100 })).items).toHaveLength(40);
  });

  test("emits live what the replay returns, to early and late listeners", async () => {
    const room = new Map<number, ExtendedEventItem[]>();
    const tail = createTail({
      db,
      emit: (integratorId, events) => {
        expect(integratorId).toBe(tenant);
        for (const seen of room.values()) seen.push(...events);
      },
    });
    const enter = (id: number) => () => {
      room.set(id, []);
      return true;
    };
    await tail.join(tenant, enter(0));
    let written = false;
    const writing = Promise.all([writeMany(tenant), writeMany(other)]).finally(
      () => (written = true),
    );
    const joined = new Map<number, string | null>();
    for (let id = 1; !written; id += 1) {
      await tail.pump();
      joined.set(id, await getNewestStamp(db, tenant));
      await tail.join(tenant, enter(id));
    }
    await writing;
    await tail.pump();

    const all = (await listExtendedEvents(db, tenant, { limit: 1_000 })).items;
    expect(room.get(0)).toEqual(all);
    expect(joined.size).toBeGreaterThan(3);
    for (const [id, before] of joined) {
      const seen = room.get(id) ?? [];
      expect(seen).toEqual(all.slice(all.length - seen.length));
      const due = all.filter((event) => before === null || event.timestamp > before);
      expect(seen.length).toBeGreaterThanOrEqual(due.length);
    }
  });

  test("starts the tail at the newest event, not at the clock, and drops it with the last listener", async () => {
    await append(tenant, "old");
    await sql`update events set created_at = created_at + interval '1 hour'
      where integrator_id = ${tenant}::uuid`.execute(db);
    const seen: string[] = [];
    const tail = createTail({ db, emit: (_, events) => seen.push(...events.map(markOf)) });
    await tail.join(tenant, () => true);
    await tail.join(tenant, () => true);
    await append(tenant, "ahead of the clock");
    await tail.pump();
    tail.leave(tenant);
    await append(tenant, "one still listens");
    await tail.pump();
    tail.leave(tenant);
    await append(tenant, "nobody listens");
    await tail.pump();
    await tail.join(tenant, () => true);
    await tail.pump();
    await tail.join(other, () => false);
    await append(other, "left before it was let in");
    await tail.pump();
    expect(seen).toEqual(["ahead of the clock", "one still listens"]);
  });

  test("emits the events of a preferred integrator before those of others, once", async () => {
    for (const [preferred, second] of [
      [tenant, other],
      [other, tenant],
    ] as const) {
      const seen: string[] = [];
      const tail = createTail({ db, emit: (id, events) => seen.push(...events.map(() => id)) });
      for (const id of [tenant, other]) await tail.join(id, () => true);
      for (const id of [tenant, other, tenant]) await append(id, "new");
      tail.prefer(preferred);
      tail.prefer(systemRandom.uuid());
      await tail.pump();
      const countOf = (id: string) => (id === tenant ? 2 : 1);
      expect(seen).toEqual([
        ...Array.from({ length: countOf(preferred) }, () => preferred),
        ...Array.from({ length: countOf(second) }, () => second),
      ]);
      await tail.pump();
      expect(seen).toHaveLength(3);
    }
  });

  test("emits every page of a busy integrator", async () => {
    let count = 0;
    const tail = createTail({ db, emit: (_, events) => (count += events.length) });
    await tail.join(tenant, () => true);
    await db.transaction().execute(async (tx) => {
      await sql`select append_event(gen_random_uuid(), ${tenant}::uuid, 'status_changed', '{}')
        from generate_series(1, 1_201)`.execute(tx);
    });
    await tail.pump();
    expect(count).toBe(1_201);
  });

  test("writes few events at once to many listeners, so that other work goes on [T98]", async () => {
    const sizes: number[] = [];
    const tail = createTail({ db, emit: (_, events) => sizes.push(events.length) });
    for (let n = 0; n < 100; n += 1) await tail.join(tenant, () => true);
    await db.transaction().execute(async (tx) => {
      await sql`select append_event(gen_random_uuid(), ${tenant}::uuid, 'status_changed', '{}')
        from generate_series(1, 120)`.execute(tx);
    });
    await tail.pump();
    expect(sizes).toEqual([50, 50, 20]);
  });

  test("returns an integrator its own events only [T86]", async () => {
    await append(tenant, "mine");
    await append(other, "theirs");
    const mine = await listEvents(db, tenant, { limit: 10 });
    const theirs = await listEvents(db, other, { limit: 10 });
    expect(mine.items.map(markOf)).toEqual(["mine"]);
    expect(theirs.items.map(markOf)).toEqual(["theirs"]);
  });

  test("reports more events only when another one exists, also with a filter", async () => {
    await append(tenant, "1");
    await append(tenant, "2");
    expect(await listEvents(db, tenant, { limit: 1 })).toMatchObject({ more: true });
    expect(await listEvents(db, tenant, { limit: 2 })).toMatchObject({ more: false });
    const type = "deposit_detected";
    expect(await listEvents(db, tenant, { limit: 1, type })).toEqual({ items: [], more: false });
  });

  test("takes the stamp locks of several integrators in one order without a deadlock", async () => {
    const inOrder = [tenant, other].sort();
    await Promise.all(
      Array.from({ length: 20 }, () =>
        db.transaction().execute(async (tx) => {
          for (const id of inOrder) await lockStamps(tx, id);
          for (const id of inOrder) await appendIn(tx, id, "both");
        }),
      ),
    );
    expect((await listEvents(db, tenant, { limit: 50 })).items).toHaveLength(20);
  });

  test("gives the next stamp to the holder of the stamp lock, even before it appends [T91]", async () => {
    let later: Promise<void> | undefined;
    await db.transaction().execute(async (tx) => {
      await lockStamps(tx, tenant);
      let isDone = false;
      later = append(tenant, "later").finally(() => (isDone = true));
      // Until the other append waits for the lock, or finished because nothing blocked it.
      for (let isWaiting = false; !isWaiting && !isDone;) {
        const { rows } = await sql`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
        isWaiting = rows.length > 0;
      }
      await appendIn(tx, tenant, "first");
    });
    await later;
    const { items } = await listEvents(db, tenant, { limit: 10 });
    expect(items.map(markOf)).toEqual(["first", "later"]);
  });

  test("filters by wallet address in its display spelling", async () => {
    for (const walletAddress of ["0xAa", "0xBb", "0xAa"]) {
      await db.transaction().execute((tx) =>
        appendEvent(tx, systemRandom, {
          integratorId: tenant,
          type: "deposit_detected",
          data: { walletAddress },
        }),
      );
    }
    const page = await listEvents(db, tenant, { limit: 10, walletAddress: "0xAa" });
    expect(page.items.map(({ data }) => data)).toEqual([
      { walletAddress: "0xAa" },
      { walletAddress: "0xAa" },
    ]);
    expect((await listEvents(db, tenant, { limit: 10, walletAddress: "0xaa" })).items).toEqual([]);
  });

  test("lists integrators with events strictly after their cursor, and none without cursors", async () => {
    await append(tenant, "1");
    const first = (await getNewestStamp(db, tenant)) ?? "";
    await append(tenant, "2");
    const newest = (await getNewestStamp(db, tenant)) ?? "";
    expect(await listBehind(db, new Map())).toEqual([]);
    expect(await listBehind(db, new Map([[tenant, newest]]))).toEqual([]);
    const behind = new Map([
      [tenant, first],
      [other, first],
    ]);
    expect(await listBehind(db, behind)).toEqual([tenant]);
  });
});
