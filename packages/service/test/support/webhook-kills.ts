/** Kills a process of the role `webhooks` again and again, at every step of a delivery, while events go on. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Db } from "../../src/db/schema.ts";
import { listEvents } from "../../src/events/index.ts";
import { createTenant, insertEvent, PEPPER } from "./tenants.ts";
import { insertEndpoint, startReceiver } from "./webhooks.ts";

const MAIN = join(import.meta.dirname, "../../src/main.ts");
/** The steps of a delivery: after the insertion of deliveries, the lease, the answer and the record. */
export const WEBHOOK_STEPS = [
  "webhook.inserted",
  "webhook.leased",
  "webhook.sent",
  "webhook.recorded",
] as const;
const ENDPOINTS = 3;
/** Few enough that the ordered endpoint, which gets one after the other, does not take minutes. */
const EVENT_INTERVAL_MS = 500;
/** The last process leaves leases, which end by themselves. */
const LEASES_TIMEOUT_MS = 240_000;

/** The outcome of the kills. */
export interface WebhookKills {
  /** How each process ended, in order, with its step. */
  readonly ends: readonly (readonly [string, NodeJS.Signals | null])[];
  /** Events that did not arrive, of each endpoint. */
  readonly missing: readonly number[];
  readonly events: number;
  /** Webhooks that arrived, those that came twice included. */
  readonly arrived: number;
  /** States of the deliveries after the end. */
  readonly states: readonly string[];
}

/** Configuration of a process that runs the role alone; its chains are never asked. */
export function describeWebhookRole(): object {
  const address = `0x${"1".repeat(40)}`;
  const lane = { env: "LANE" };
  return {
    stateDir: "state",
    apiKeyPepper: { env: "PEPPER" },
    feeBps: 10,
    webhooks: { allowedRanges: ["127.0.0.0/8"] },
    attestor: { key: lane, rpcUrls: { 2: "http://127.0.0.1:1" } },
    chains: [
      {
        chainId: 2,
        evmChainId: 900_002,
        rpcUrl: "http://127.0.0.1:1",
        startBlock: 0,
        contracts: { factory: address, escrow: address, delivery: address },
        tokens: [],
        lanes: { deploy: lane, settle: lane, deliver: lane },
      },
    ],
    routes: [],
  };
}

/** Kills one process per step and round, lets the last one finish, and counts. */
export async function killWebhooks({
  db,
  databaseUrl,
  folder,
  rounds,
}: {
  readonly db: Db;
  /** Absent: the embedded database in `folder`. */
  readonly databaseUrl?: string;
  /** For the configuration. */
  readonly folder: string;
  readonly rounds: number;
}): Promise<WebhookKills> {
  writeFileSync(join(folder, "service.json"), JSON.stringify(describeWebhookRole()));
  const tenant = await createTenant(db);
  const receiver = await startReceiver();
  for (let n = 0; n < ENDPOINTS; n += 1) {
    await insertEndpoint(db, tenant, `${receiver.url}/${n}`, { ordered: n === 0 });
  }
  /** Starts the role. At its crash point the process kills itself. */
  const serve = (crashAt?: string): ChildProcess =>
    spawn(process.execPath, [MAIN, "serve", "--roles", "webhooks"], {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"],
      env: {
        PEPPER: PEPPER.reveal(),
        SLUICE_CONFIG: join(folder, "service.json"),
        ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
        ...(crashAt !== undefined && { SLUICE_CRASH_AT: crashAt }),
      },
    });

  const ends: [string, NodeJS.Signals | null][] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const step of WEBHOOK_STEPS) {
      const service = serve(step);
      const ended = once(service, "exit");
      let isOver = false;
      void ended.then(() => (isOver = true));
      // Events go on while the process starts, sends and dies.
      while (!isOver) {
        await insertEvent(db, tenant);
        await delay(EVENT_INTERVAL_MS);
      }
      ends.push([step, (await ended)[1]]);
    }
  }

  const service = serve();
  const exited = once(service, "exit");
  const events = (await listEvents(db, tenant.id, { limit: 1_000_000 })).items;
  const count = () =>
    Array.from({ length: ENDPOINTS }, (_, n) => {
      const own = receiver.arrived.filter(({ path }) => path === `/${n}`);
      const got = new Set(own.map(({ id }) => id));
      return events.filter(({ id }) => !got.has(id)).length;
    });
  const deadline = Date.now() + LEASES_TIMEOUT_MS;
  /** Whether every event arrived and is recorded: one that arrived before a kill is sent again after its lease. */
  const isDone = async () => {
    if (count().some((missing) => missing > 0)) return false;
    const open = db
      .selectFrom("webhook_deliveries")
      .select("event_id")
      .where("state", "=", "pending");
    return (await open.limit(1).executeTakeFirst()) === undefined;
  };
  while (service.exitCode === null && !(await isDone()) && Date.now() < deadline) {
    await delay(1_000);
  }
  service.kill("SIGTERM");
  const [code] = await exited;
  if (code !== 0) throw new Error(`the last process ended with code ${code}`);
  receiver.close();
  const rows = await db.selectFrom("webhook_deliveries").select("state").distinct().execute();
  return {
    ends,
    missing: count(),
    events: events.length,
    arrived: receiver.arrived.length,
    states: rows.map(({ state }) => state),
  };
}
