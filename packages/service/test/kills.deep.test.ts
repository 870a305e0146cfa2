/**
 * `kill -9` of PostgreSQL and of the roles that are not exclusive, with the database as a separate server: each killed
 * process is restarted, and nothing else is repaired.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createSluiceClient } from "@sluice/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmbeddedServer, startEmbedded } from "../src/db/embedded.ts";
import {
  type Deposit,
  deposit,
  expectDelivered,
  expectEmptyEscrow,
  USDC,
} from "./support/deposits.ts";
import { expectUnbroken } from "./support/history.ts";
import { createProcesses, type Processes } from "./support/processes.ts";
import { openWorld, type World } from "./support/world.ts";

let folder: string;
let server: EmbeddedServer;
let world: World;
let processes: Processes;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-kills-"));
  server = await startEmbedded({ stateDir: folder });
  // The user and the database of the embedded server.
  const host = encodeURIComponent(server.address.socketDir);
  const databaseUrl = `postgres://sluice@localhost/postgres?host=${host}`;
  world = await openWorld({ databaseUrl });
  await world.replaceService({ roles: "api,quoter" });
  processes = createProcesses(world.configPath);
  for (const role of ["scanner", "settler", "attestor"]) await processes.serve(role);
});
afterAll(async () => {
  await processes.stopAll();
  await world.close();
  await server.stop({ force: true });
  rmSync(folder, { recursive: true, force: true });
});

async function expectDeliveredUnbroken(made: Deposit): Promise<void> {
  const swap = await expectDelivered(world, made);
  await expectUnbroken(world, swap.id);
}

/** Kills the server and with it every connection, like a power cut of its machine. */
async function killPostgres(): Promise<void> {
  const pidFile = join(folder, "postgres", "data", "postmaster.pid");
  const pid = Number(readFileSync(pidFile, "utf8").split("\n")[0]);
  process.kill(pid, "SIGKILL");
}

test("delivers a deposit", async () => {
  await expectDeliveredUnbroken(await deposit(world, 5n * USDC));
});

test.each([0, 400, 800, 1_200, 1_600, 2_400, 3_200])(
  "kill -9 of PostgreSQL %i ms after a payment: exclusive roles exit with the reason, the others reconnect",
  async (afterMs) => {
    const under = await deposit(world, 6n * USDC);
    await delay(afterMs);
    await killPostgres();
    for (const role of ["scanner", "settler", "attestor"]) {
      const { code, said } = await processes.deathOf(role);
      expect(code).toBe(1);
      expect(said).toContain("database claim lost, stopping");
      // The last line gives the reason, and no stack trace of the driver follows.
      expect(said.trimEnd().split("\n").at(-1)).toContain('"level":60');
    }
    server = await startEmbedded({ stateDir: folder });
    for (const role of ["scanner", "settler", "attestor"]) await processes.serve(role);
    // The api and the quoter were not restarted.
    await expectDeliveredUnbroken(under);
    await expectDeliveredUnbroken(await deposit(world, 7n * USDC));
  },
);

test("a standby survives a restart of PostgreSQL, and takes over when the service is gone", async () => {
  await processes.standBy("standby", "settler");
  const under = await deposit(world, 8n * USDC);
  await delay(500);
  await killPostgres();
  for (const role of ["scanner", "settler", "attestor"]) await processes.deathOf(role);
  server = await startEmbedded({ stateDir: folder });
  for (const role of ["scanner", "attestor"]) await processes.serve(role);
  await expectDeliveredUnbroken(under);
  await processes.stop("standby", "SIGTERM");
  await processes.serve("settler");
});

test("kill -9 of the quoter: settlements continue, and the same request gets the same address", async () => {
  const ask = async (quoteUrl: string | undefined, recipient: string) => {
    if (quoteUrl === undefined) throw new Error("the quoter said where it listens");
    const { baseUrl } = world.serviceUrls();
    const client = createSluiceClient({ baseUrl, quoteUrl, apiKey: world.apiKeyOf(0) });
    const { quotes } = await client.quote({
      amountIn64: "10000000",
      fromChain: "ethereum",
      fromToken: world.deployment.chains.ethereum.token,
      toChain: "base",
      toToken: world.deployment.chains.base.token,
      slippageBps: "auto",
      destinationAddress: recipient,
      payDeposit: true,
    });
    return quotes.map(({ payDepositAddress }) => payDepositAddress);
  };
  const recipient = world.newRecipient();
  const before = await ask((await processes.serve("quoter")).quote, recipient);
  const under = await deposit(world, 9n * USDC);
  await processes.stop("quoter", "SIGKILL");
  await expectDeliveredUnbroken(under);
  expect(await ask((await processes.serve("quoter")).quote, recipient)).toEqual(before);
});

test("kill -9 of the api: settlements continue, and missed events are replayed", async () => {
  const under = await deposit(world, 10n * USDC);
  await world.killService();
  await world.until("it is paid", async () => (await world.balance("base", under.recipient)) > 0n);
  await world.replaceService({ roles: "api,quoter" });
  await expectDeliveredUnbroken(under);
});

test("leaves no process and no open work", async () => {
  await expectEmptyEscrow(world);
});
