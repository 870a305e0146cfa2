/**
 * Two of three attestors must sign. Each is a process of its own with its own key, journal and database user, and none knows
 * the others. The third never runs.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadKey } from "@sluice/sandbox";
import { openDatabase, type OpenDatabase } from "../src/db/pool.ts";
import { afterFee, USDC } from "./support/deposits.ts";
import { createProcesses, type Processes } from "./support/processes.ts";
import { startThrowawayServer, type ThrowawayServer } from "./support/throwaway-server.ts";
import { openWorld, type World } from "./support/world.ts";

/** Key files of the attestors. The sandbox lists the first two, its attestor and its cold one. */
const NAMES = ["attestor", "cold-attestor", "third-attestor"] as const;
const userOf = (name: string) => `sluice_${name.replace("-", "_")}`;

let server: ThrowawayServer;
let admin: OpenDatabase;
let world: World;
const running: Processes[] = [];

beforeAll(async () => {
  server = await startThrowawayServer("sluice-attestors");
  admin = await openDatabase(server.address, { max: 2 });
  for (const name of NAMES) await admin.pool.query(`create user ${userOf(name)}`);
  world = await openWorld({
    databaseUrl: urlOf("sluice"),
    roles: "scanner,settler,auditor,webhooks,api,quoter",
    attestors: { threshold: 2, further: [NAMES[2]] },
    configure(config, keysDir) {
      config["attestors"] = {
        threshold: 2,
        accounts: NAMES.map((name) => loadKey(keysDir, name).account.address),
        databaseUsers: NAMES.map(userOf),
      };
    },
  });
}, 120_000);
afterAll(async () => {
  await Promise.all(running.map((one) => one.stopAll()));
  await world.close();
  await admin.close();
  await server.stop();
});

function urlOf(user: string): string {
  return `postgres://${user}@localhost/postgres?host=${encodeURIComponent(server.address.socketDir)}`;
}

/** Starts an attestor with the configuration of a machine of its own. */
async function startAttestor(name: (typeof NAMES)[number]): Promise<void> {
  const config = JSON.parse(readFileSync(world.configPath, "utf8"));
  const folder = dirname(world.configPath);
  config.attestor.key.file = join(folder, "keys", `${name}.key`);
  config.attestor.databaseUser = userOf(name);
  config.stateDir = join(folder, `state-of-${name}`);
  const path = join(folder, `${name}.json`);
  writeFileSync(path, JSON.stringify(config));
  const processes = createProcesses(path, { DATABASE_URL: urlOf(userOf(name)) });
  running.push(processes);
  await processes.serve("attestor");
}

/** Returns the users that have signed, each once. */
async function listSigners(): Promise<string[]> {
  const { rows } = await admin.pool.query<{ author: string }>(
    "select distinct written_by as author from attestation_answers where signature is not null order by author",
  );
  return rows.map(({ author }) => author);
}

test("a deposit is paid once two of three attestors have signed, and its lock is claimed [T252]", async () => {
  await startAttestor("attestor");
  const recipient = world.newRecipient();
  const before = await world.treasuryBalance("ethereum");
  const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
  await world.pay("ethereum", address, 25n * USDC);

  await world.until("one attestor has signed", async () => (await listSigners()).length === 1);
  expect(await world.balance("base", recipient)).toBe(0n);

  await startAttestor("third-attestor");
  const swap = await world.settled(address);
  expect(swap).toMatchObject({ status: "completed", error: null });
  expect(await world.balance("base", recipient)).toBe(afterFee(25n * USDC));
  await world.until("the lock is claimed", async () => (await world.openLocks()) === 0);
  expect((await world.treasuryBalance("ethereum")) - before).toBe(25n * USDC);
  expect(await listSigners()).toEqual([userOf("attestor"), userOf("third-attestor")].toSorted());
});
