/**
 * `kill -9` of PostgreSQL, and of the roles that hold nothing, over a database that is a server of its own: whatever
 * dies is started again and nothing else is done about it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { createSluiceClient } from "@sluice/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmbeddedServer, startEmbedded } from "../src/db/embedded.ts";
import { expectUnbroken } from "./support/history.ts";
import { openWorld, type World } from "./support/world.ts";

const MAIN = join(import.meta.dirname, "../src/main.ts");
const USDC = 1_000_000n;
const afterFee = (amount: bigint) => amount - amount / 1000n;

let folder: string;
let server: EmbeddedServer;
let world: World;
const running = new Map<string, { readonly child: ChildProcess; readonly said: Promise<string> }>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-kills-"));
  server = await startEmbedded({ stateDir: folder });
  // The user and the database that the embedded server has.
  const host = encodeURIComponent(server.address.socketDir);
  const databaseUrl = `postgres://sluice@localhost/postgres?host=${host}`;
  world = await openWorld({ databaseUrl });
  await world.replaceService({ roles: "api,quoter" });
  for (const role of ["scanner", "settler", "attestor"]) await start(role);
});
afterAll(async () => {
  await Promise.all([...running.keys()].map((name) => stop(name, "SIGTERM")));
  await world.close();
  await server.stop({ force: true });
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a process of some roles, and returns what it says when it is ready. */
async function start(name: string, roles = name, ...flags: string[]) {
  const args = [MAIN, "--config", world.configPath, "serve", "--roles", roles, ...flags];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  // A standby says that it waits, and is read no further.
  const said = flags.includes("--standby") ? Promise.resolve("") : text(child.stderr);
  running.set(name, { child, said });
  if (flags.includes("--standby")) {
    for await (const line of createInterface({ input: child.stderr })) {
      if (line.includes("waiting until nobody else has the roles")) return {};
    }
  }
  for await (const line of createInterface({ input: child.stdout })) {
    // CAST: the line that the command prints when it is ready.
    if (line.includes('"ready":true')) return JSON.parse(line) as { quote?: string };
  }
  throw new Error(`${name} ended before it was ready`);
}

async function stop(name: string, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  const one = running.get(name);
  running.delete(name);
  if (!one || one.child.exitCode !== null || one.child.signalCode !== null) return;
  one.child.kill(signal);
  await once(one.child, "exit");
}

async function deposit(amount: bigint) {
  const recipient = world.newRecipient();
  const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
  await world.pay("ethereum", address, amount);
  return { recipient, address, amount };
}

async function expectDelivered({
  recipient,
  address,
  amount,
}: Awaited<ReturnType<typeof deposit>>) {
  const swap = await world.settled(address);
  expect(swap.status).toBe("completed");
  expect(await world.balance("base", recipient)).toBe(afterFee(amount));
  expect(await world.countDeliveries("base", recipient)).toBe(1);
  await expectUnbroken(world, swap.id);
}

/** The server and, with it, every connection: what a power cut does to a machine of its own. */
async function killPostgres(): Promise<void> {
  const pidFile = join(folder, "postgres", "data", "postmaster.pid");
  const pid = Number(readFileSync(pidFile, "utf8").split("\n")[0]);
  process.kill(pid, "SIGKILL");
}

/** How a process that held a role ended. */
async function deathOf(
  name: string,
): Promise<{ readonly code: number | null; readonly said: string }> {
  const one = running.get(name);
  if (!one) throw new Error(`${name} was not started`);
  running.delete(name);
  if (one.child.exitCode === null) await once(one.child, "exit");
  return { code: one.child.exitCode, said: await one.said };
}

test("a deposit goes through", async () => {
  await expectDelivered(await deposit(5n * USDC));
});

test.each([0, 400, 800, 1_200, 1_600, 2_400, 3_200])(
  "kill -9 of PostgreSQL %i ms after a payment: holders of a role end and say why, the others come back by themselves",
  async (afterMs) => {
    const under = await deposit(6n * USDC);
    await delay(afterMs);
    await killPostgres();
    for (const role of ["scanner", "settler", "attestor"]) {
      const { code, said } = await deathOf(role);
      expect(code).toBe(1);
      expect(said).toContain("the claim on the database was lost");
      // The last line says it, and it is no stack of the driver's.
      expect(said.trimEnd().split("\n").at(-1)).toContain('"level":60');
    }
    server = await startEmbedded({ stateDir: folder });
    for (const role of ["scanner", "settler", "attestor"]) await start(role);
    // Nobody touched the api and the quoter.
    await expectDelivered(under);
    await expectDelivered(await deposit(7n * USDC));
  },
);

test("a standby outlives PostgreSQL, and takes over when nobody is left", async () => {
  await start("standby", "settler", "--standby");
  const under = await deposit(8n * USDC);
  await delay(500);
  await killPostgres();
  for (const role of ["scanner", "settler", "attestor"]) await deathOf(role);
  server = await startEmbedded({ stateDir: folder });
  for (const role of ["scanner", "attestor"]) await start(role);
  await expectDelivered(under);
  await stop("standby", "SIGTERM");
  await start("settler");
});

test("kill -9 of the quoter alone: money moves on, and the same question has the same address", async () => {
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
  const before = await ask((await start("quoter")).quote, recipient);
  const under = await deposit(9n * USDC);
  await stop("quoter", "SIGKILL");
  await expectDelivered(under);
  expect(await ask((await start("quoter")).quote, recipient)).toEqual(before);
});

test("kill -9 of the api alone: money moves on, and what was missed is replayed", async () => {
  const under = await deposit(10n * USDC);
  await world.killService();
  await world.until("it is paid", async () => (await world.balance("base", under.recipient)) > 0n);
  await world.replaceService({ roles: "api,quoter" });
  await expectDelivered(under);
});

test("nothing is left behind", async () => {
  await world.until("no lock is open", async () => (await world.openLocks()) === 0);
  expect(await world.escrowBalance("ethereum")).toBe(0n);
});
