/** A process of webhooks that is killed again and again, at every step of a delivery: every event arrives. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "./support/database.ts";
import { killWebhooks, WEBHOOK_STEPS } from "./support/webhook-kills.ts";

/** `npm run bench -- webhooks --kills 200` runs more. */
const ROUNDS = 2;

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), "sluice-webhooks-"));
});
afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

test(`${ROUNDS * WEBHOOK_STEPS.length} kills at every step lose no event`, async () => {
  const { db, url: databaseUrl } = database;
  const kills = await killWebhooks({ db, databaseUrl, folder, rounds: ROUNDS });
  const steps = Array.from({ length: ROUNDS }, () => [...WEBHOOK_STEPS]).flat();
  expect(kills.ends).toEqual(steps.map((step) => [step, "SIGKILL"]));
  expect(kills.events).toBeGreaterThan(steps.length);
  expect(kills.missing).toEqual([0, 0, 0]);
  expect(kills.states).toEqual(["delivered"]);
});
