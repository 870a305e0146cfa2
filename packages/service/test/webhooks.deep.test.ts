/** A process of webhooks that is killed again and again, at every step of a delivery: every event arrives. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listEvents } from "../src/events/index.ts";
import { createTestDatabase, type TestDatabase } from "./support/database.ts";
import { createTenant, insertEvent, PEPPER, type Tenant } from "./support/tenants.ts";
import { insertEndpoint, startReceiver } from "./support/webhooks.ts";

const MAIN = join(import.meta.dirname, "../src/main.ts");
/** The steps of a delivery: after the insertion of deliveries, the lease, the answer and the record. */
const STEPS = ["webhook.inserted", "webhook.leased", "webhook.sent", "webhook.recorded"] as const;
const ROUNDS = 10;
const ENDPOINTS = 3;

let database: TestDatabase;
let folder: string;
let tenant: Tenant;

beforeAll(async () => {
  database = await createTestDatabase();
  tenant = await createTenant(database.db);
  folder = mkdtempSync(join(tmpdir(), "sluice-webhooks-"));
  writeFileSync(join(folder, "service.json"), JSON.stringify(configure()));
});
afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

/** A configuration whose chains the role never asks. */
function configure(): object {
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

/** Starts the role. At its crash point the process kills itself. */
function serve(crashAt: string | undefined): ChildProcess {
  return spawn(process.execPath, [MAIN, "serve", "--roles", "webhooks"], {
    cwd: folder,
    stdio: "ignore",
    env: {
      PEPPER: PEPPER.reveal(),
      SLUICE_CONFIG: join(folder, "service.json"),
      DATABASE_URL: database.url,
      ...(crashAt !== undefined && { SLUICE_CRASH_AT: crashAt }),
    },
  });
}

test(`${ROUNDS * STEPS.length} kills at every step lose no event`, async () => {
  const receiver = await startReceiver();
  for (let n = 0; n < ENDPOINTS; n += 1) {
    await insertEndpoint(database.db, tenant, `${receiver.url}/${n}`, { ordered: n === 0 });
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const step of STEPS) {
      const service = serve(step);
      const ended = once(service, "exit");
      let isOver = false;
      void ended.then(() => (isOver = true));
      // Events go on while the process starts, sends and dies.
      while (!isOver) {
        await insertEvent(database.db, tenant);
        await delay(100);
      }
      expect([step, (await ended)[1]]).toEqual([step, "SIGKILL"]);
    }
  }
  const service = serve(undefined);
  const events = (await listEvents(database.db, tenant.id, { limit: 100_000 })).items;
  const missing = () =>
    Array.from({ length: ENDPOINTS }, (_, n) => {
      const got = new Set(
        receiver.arrived.filter(({ path }) => path === `/${n}`).map(({ id }) => id),
      );
      return events.filter(({ id }) => !got.has(id)).length;
    });
  // The last process leaves leases, which end by themselves.
  await expect.poll(missing, { timeout: 240_000, interval: 1_000 }).toEqual([0, 0, 0]);
  service.kill("SIGTERM");
  const [code] = await once(service, "exit");
  expect(code).toBe(0);
  receiver.close();
  const { rows } = await database.pool.query<{ state: string }>(
    "select distinct state from webhook_deliveries",
  );
  expect(rows).toEqual([{ state: "delivered" }]);
});
