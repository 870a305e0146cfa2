/**
 * Many concurrent writers, while clients page through the replay and reconnect to the stream of two servers. No client
 * may lose an event, receive one twice, or receive two out of order [T90, T91].
 */
import { setTimeout as sleep } from "node:timers/promises";
import { EventPage, StreamEvent } from "@sluice/sdk/wire";
import { sql } from "kysely";
import { io } from "socket.io-client";
import { Value } from "typebox/value";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createGenerousLimiter, type RunningStream, startStream } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { silentLog } from "../../test/support/doubles.ts";
import { createTenant, statusChanged, type Tenant } from "../../test/support/tenants.ts";
import { type OpenDatabase, openDatabase } from "../db/pool.ts";
import { appendEvent } from "../events/index.ts";
import { startLoop } from "../jobs/loop.ts";
import { createWakeups, type Wakeups } from "../jobs/wakeups.ts";
import { systemClock, systemRandom } from "../roles/system-ports.ts";

const WRITERS = 16;
const TRANSACTIONS = 40;
const REPLAY_LIMITS = [1, 7, 50, 200];
/** Sockets that join and stay. Each receives every event, so that their number has a bound on a slow machine too. */
const JOINING_MAX = 30;
const TOPIC = "events";

type Process = Awaited<ReturnType<typeof startProcess>>;

let database: TestDatabase;
let writing: OpenDatabase;
let wakeups: Wakeups;
let processes: readonly [Process, Process];
let alice: Tenant;
let bob: Tenant;

beforeAll(async () => {
  database = await createTestDatabase();
  writing = await openDatabase(database.address, { max: WRITERS });
  wakeups = listen(writing.pool);
  processes = [await startProcess(), await startProcess()];
  alice = await createTenant(database.db);
  bob = await createTenant(database.db);
});
afterAll(async () => {
  await Promise.all(processes.map((process) => process.close()));
  await wakeups.close();
  await writing.close();
  await database.drop();
});

function listen(pool: OpenDatabase["pool"]): Wakeups {
  return createWakeups({ address: database.address, pool, clock: systemClock, log: silentLog });
}

/** REST and stream, with the loop and wake-ups of the role. */
async function startProcess() {
  const { db, pool } = database;
  const stream: RunningStream = await startStream({ db, limiter: createGenerousLimiter() });
  const woken = listen(pool);
  const loop = startLoop({
    name: "stream",
    intervalMs: 1_000,
    clock: systemClock,
    log: silentLog,
    onPoll: () => undefined,
    async poll() {
      await stream.tail.pump();
      return false;
    },
  });
  woken.on(TOPIC, () => loop.wake());
  return {
    url: stream.url,
    async close() {
      await loop.stop();
      await woken.close();
      await stream.close();
    },
  };
}

/** Writes one or several events per transaction, some slowly, some rolled back. Returns the committed ones. */
async function write(tenant: Tenant, writer: number, transactions: number): Promise<string[]> {
  const committed: string[] = [];
  for (let n = 0; n < transactions; n += 1) {
    const ids = Array.from({ length: 1 + (n % 3) }, () => systemRandom.uuid());
    const isRolledBack = n % 10 === 9;
    const work = writing.db.transaction().execute(async (tx) => {
      if ((n + writer) % 5 === 0) await sql`select pg_sleep(0.01)`.execute(tx);
      for (const id of ids) {
        const data = statusChanged(id);
        const event = { integratorId: tenant.id, type: "status_changed", data } as const;
        await appendEvent(tx, systemRandom, event);
      }
      // Its stamps are uncommitted: later stamps must not become visible before them.
      if ((n + writer) % 7 === 0) await sql`select pg_sleep(0.01)`.execute(tx);
      if (isRolledBack) throw new RolledBack();
    });
    await work.then(
      () => committed.push(...ids),
      (error: unknown) => expect(error).toBeInstanceOf(RolledBack),
    );
    wakeups.wake(TOPIC, tenant.id);
  }
  return committed;
}

class RolledBack extends Error {}

/** Returns an event in the form shared by replay and stream. */
type Heard = StreamEvent;

/** Pages through the replay as the interface documents, resuming at its end, until `isDone` holds before a last page. */
async function replay(tenant: Tenant, url: string, limit: number, isDone = () => true) {
  const seen: Heard[] = [];
  let since: string | undefined;
  for (;;) {
    const done = isDone();
    const query = new URLSearchParams({ limit: String(limit), ...(since && { since }) });
    const headers = { "x-api-key": tenant.apiKey };
    const response = await fetch(`${url}/events?${query}`, { headers });
    const page: EventPage = JSON.parse(await response.text());
    for (const { id: _, ...event } of page.items) seen.push(event);
    since = page.nextCursor ?? page.items.at(-1)?.timestamp ?? since;
    if (page.nextCursor !== null) continue;
    if (done) return seen;
    await sleep(1);
  }
}

/** Returns a socket after its greeting. */
async function join(tenant: Tenant, url: string) {
  const heard: Heard[] = [];
  const { apiKey } = tenant;
  const socket = io(url, { transports: ["websocket"], forceNew: true, auth: { apiKey } });
  socket.on("event", (event: Heard) => heard.push(event));
  await new Promise((resolve) => socket.once("connected", resolve));
  return { heard, leave: () => socket.disconnect() };
}

const idOf = (event: Heard) => ("queueItemId" in event.data ? event.data.queueItemId : "");

/** Asserts that the received events are a contiguous part of the log, in order, each once. */
function expectRunOf(log: readonly Heard[], heard: readonly Heard[]): void {
  const first = log.findIndex(({ timestamp }) => timestamp === heard[0]?.timestamp);
  expect(heard).toEqual(heard.length === 0 ? [] : log.slice(first, first + heard.length));
}

test("16 writers, 4 replayers and reconnecting sockets lose, repeat and reorder no event [T90, T91]", async () => {
  const [here, there] = processes;
  const fromTheStart = await Promise.all([join(alice, here.url), join(alice, here.url)]);
  const ofBob = await join(bob, there.url);

  const progress = { isWritten: false, isOver: false };
  const written = Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      const tenant = writer < WRITERS - 2 ? alice : bob;
      return { tenant, ids: await write(tenant, writer, TRANSACTIONS) };
    }),
  ).finally(() => (progress.isWritten = true));
  const replays = REPLAY_LIMITS.map((limit, index) => {
    const { url } = index % 2 === 0 ? here : there;
    return replay(alice, url, limit, () => progress.isOver);
  });
  // Alice keeps no socket at the second process, which forgets its position in her log and finds it again.
  const passing = (async () => {
    const gone: (readonly Heard[])[] = [];
    while (!progress.isWritten) {
      const { heard, leave } = await join(alice, there.url);
      await sleep(20);
      leave();
      gone.push(heard);
    }
    return gone;
  })();
  // They catch up after their greeting, as the interface tells clients to do.
  const joining = (async () => {
    const joined: (Awaited<ReturnType<typeof join>> & { readonly caughtUp: Heard[] })[] = [];
    while (!progress.isWritten && joined.length < JOINING_MAX) {
      const { url } = joined.length % 2 === 0 ? here : there;
      const socket = await join(alice, url);
      joined.push({ ...socket, caughtUp: await replay(alice, url, 200) });
      await sleep(50);
    }
    return joined;
  })();

  const committed = [...(await written)];
  const [gone, joined] = await Promise.all([passing, joining]);
  // A last event for each integrator, which every connected socket receives.
  for (const tenant of [alice, bob]) committed.push({ tenant, ids: await write(tenant, 0, 1) });
  progress.isOver = true;
  const [log, bobsLog] = [await replay(alice, here.url, 200), await replay(bob, there.url, 200)];
  const sockets = [...fromTheStart, ...joined];
  const isBehind = ({ heard }: { heard: readonly Heard[] }) =>
    heard.at(-1)?.timestamp !== log.at(-1)?.timestamp;
  await expect.poll(() => sockets.filter(isBehind).length, { timeout: 30_000 }).toBe(0);
  await expect.poll(() => ofBob.heard.at(-1), { timeout: 30_000 }).toEqual(bobsLog.at(-1));

  const committedOf = (whose: Tenant) =>
    committed.flatMap(({ tenant, ids }) => (tenant === whose ? ids : [])).toSorted();
  expect(log.map(idOf).toSorted()).toEqual(committedOf(alice));
  expect(bobsLog.map(idOf).toSorted()).toEqual(committedOf(bob));
  const stamps = log.map(({ timestamp }) => timestamp);
  expect(stamps).toEqual([...new Set(stamps)].toSorted());
  expect(log.flatMap((event) => [...Value.Errors(StreamEvent, event)])).toEqual([]);

  for (const seen of await Promise.all(replays)) expect(seen).toEqual(log);
  for (const { heard } of fromTheStart) expect(heard).toEqual(log);
  expect(ofBob.heard).toEqual(bobsLog);
  for (const heard of [...gone, ...joined.map((socket) => socket.heard)]) expectRunOf(log, heard);
  for (const { heard, caughtUp } of joined) {
    const both = new Map([...caughtUp, ...heard].map((event) => [event.timestamp, event]));
    expect([...both.values()]).toEqual(log);
  }
  // They connected during the run and received events.
  expect(joined.filter(({ heard }) => heard.length > 1).length).toBeGreaterThan(3);
  expect(gone.filter((heard) => heard.length > 0).length).toBeGreaterThan(3);
  for (const { leave } of [...sockets, ofBob]) leave();
}, 180_000);
