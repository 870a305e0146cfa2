import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { systemClock } from "../roles/system-ports.ts";
import { createLog } from "../telemetry/log.ts";
import { createWakeups, type Wakeups } from "./wakeups.ts";

let database: TestDatabase;
const open: Wakeups[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await Promise.all(open.map((wakeups) => wakeups.close()));
  await database.drop();
});

function connect(): Wakeups {
  const { address, pool } = database;
  const log = createLog({ level: "silent", role: "test" });
  const wakeups = createWakeups({ address, pool, clock: systemClock, log });
  open.push(wakeups);
  return wakeups;
}

/** Repeats a wake-up until it arrives: one sent before both processes listen may get lost. */
async function wakeUntilHeard(from: Wakeups, to: Wakeups): Promise<boolean> {
  let heard = false;
  to.on("ready", () => (heard = true));
  while (!heard) {
    from.wake("ready");
    await systemClock.sleep(10);
  }
  return heard;
}

describe("wake-ups", () => {
  test("reach listeners of the same process at once, and only those of their topic", () => {
    const wakeups = connect();
    const heard: unknown[] = [];
    wakeups.on("events", (subject) => heard.push(subject));
    wakeups.on("lanes", () => heard.push("lanes"));
    wakeups.wake("events", "a");
    wakeups.wake("events");
    expect(heard).toEqual(["a", undefined]);
  });

  test("do not reach a listener that ended", () => {
    const wakeups = connect();
    const heard: string[] = [];
    const end = wakeups.on("events", () => heard.push("ended"));
    wakeups.on("events", () => heard.push("going on"));
    end();
    wakeups.wake("events");
    expect(heard).toEqual(["going on"]);
  });

  test("survive a listener that throws: neither the sender nor other listeners fail", () => {
    const wakeups = connect();
    let heard = 0;
    wakeups.on("events", () => {
      throw new Error("no");
    });
    wakeups.on("events", () => (heard += 1));
    wakeups.wake("events");
    expect(heard).toBe(1);
  });

  test("reach other processes, several in one message, and are not echoed", async () => {
    const from = connect();
    const to = connect();
    await wakeUntilHeard(from, to);
    const own: unknown[] = [];
    const heard = new Set<string | undefined>();
    // A topic of this test alone: wake-ups of the tests before may still be on their way.
    from.on("many", (subject) => own.push(subject));
    const all = Promise.withResolvers<void>();
    to.on("many", (subject) => {
      heard.add(subject);
      if (heard.size === 1_000) all.resolve();
    });
    const subjects = Array.from({ length: 1_000 }, (_, n) => `subject-${n}`);
    for (const subject of [...subjects, ...subjects]) from.wake("many", subject);
    await all.promise;
    expect(heard).toEqual(new Set(subjects));
    expect(own).toHaveLength(2_000);
  });

  test("are received again after the server closed the listener's connection", async () => {
    const from = connect();
    const to = connect();
    await wakeUntilHeard(from, to);
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and query like 'listen%'`,
    );
    expect(await wakeUntilHeard(from, to)).toBe(true);
  });

  test("ignore foreign messages on the channel", async () => {
    const from = connect();
    const to = connect();
    await wakeUntilHeard(from, to);
    await database.pool.query("select pg_notify('sluice_wakeups', 'not json')");
    expect(await wakeUntilHeard(from, to)).toBe(true);
  });

  test("can be closed before they are connected", async () => {
    await expect(connect().close()).resolves.toBeUndefined();
  });
});
