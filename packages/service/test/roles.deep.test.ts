/**
 * Each role as a process of its own on one database, the attestor with a user that may write attestations only: one is
 * killed, and the others continue.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deposit, expectDelivered, expectEmptyEscrow, USDC } from "./support/deposits.ts";
import { createProcesses, type Processes } from "./support/processes.ts";
import { openDatabase } from "../src/db/pool.ts";
import { startThrowawayServer, type ThrowawayServer } from "./support/throwaway-server.ts";
import { openWorld, type World } from "./support/world.ts";

const ATTESTOR_USER = "sluice_attestor";

let server: ThrowawayServer;
let world: World;
let processes: Processes;
let attestors: Processes;

beforeAll(async () => {
  server = await startThrowawayServer("sluice-roles");
  // The owner and the database of the embedded server.
  const host = encodeURIComponent(server.address.socketDir);
  const urlOf = (user: string) => `postgres://${user}@localhost/postgres?host=${host}`;
  world = await openWorld({ databaseUrl: urlOf("sluice") });
  await createAttestorUser();
  // One process for each role replaces the whole service; the api keeps its URL.
  await world.replaceService({ roles: "api,quoter" });
  processes = createProcesses(world.configPath);
  attestors = createProcesses(world.configPath, { DATABASE_URL: urlOf(ATTESTOR_USER) });
  const { code, said } = await processes.run("migrate");
  if (code !== 0) throw new Error(said);
  for (const role of ["scanner", "settler", "attestor"]) await processesOf(role).serve(role);
});
afterAll(async () => {
  await attestors.stopAll();
  await processes.stopAll();
  await world.close();
  await server.stop();
});

const processesOf = (role: string) => (role === "attestor" ? attestors : processes);

/** Creates the user as an operator does, and names it in the configuration. */
async function createAttestorUser(): Promise<void> {
  const admin = await openDatabase(server.address, { max: 1 });
  await admin.pool.query(`create user ${ATTESTOR_USER}`);
  await admin.close();
  const config = JSON.parse(readFileSync(world.configPath, "utf8"));
  config.attestor.databaseUser = ATTESTOR_USER;
  writeFileSync(world.configPath, JSON.stringify(config));
}

test("delivers a deposit with the roles in five processes", async () => {
  await expectDelivered(world, await deposit(world, 5n * USDC));
});

test.each(["scanner", "settler", "attestor"])(
  "deposits before and during kill -9 of the %s are delivered after its restart",
  async (role) => {
    const before = await deposit(world, 6n * USDC);
    await processesOf(role).stop(role, "SIGKILL");
    const meanwhile = await deposit(world, 7n * USDC);
    await processesOf(role).serve(role);
    await expectDelivered(world, before);
    await expectDelivered(world, meanwhile);
  },
);

test("a standby takes over from a killed settler", async () => {
  await processes.standBy("standby", "settler");
  const before = await deposit(world, 8n * USDC);
  await processes.stop("settler", "SIGKILL");
  await expectDelivered(world, before);
});

test("refuses a second process of an exclusive role with a one-line error", async () => {
  const { code, said } = await processes.run("serve", "--roles", "scanner");
  expect(code).toBe(1);
  expect(said).toMatch(
    /^Another service already works on this database \(as its scanner\)[^\n]*\n$/,
  );
});

test("chains spread over processes deliver to each other, and one that is killed stops only its own [T320]", async () => {
  for (const name of ["scanner", "standby"]) await processes.stop(name, "SIGTERM");
  // As on a machine of its own: with a journal of its signer.
  const config = JSON.parse(readFileSync(world.configPath, "utf8"));
  const otherPath = world.configPath.replace(/\.json$/, "-other.json");
  writeFileSync(otherPath, JSON.stringify({ ...config, stateDir: `${config.stateDir}-other` }));
  const others = createProcesses(otherPath);
  const startBase = () => others.serve("scanner,settler", "--chains", "base");
  try {
    await processes.serve("scanner,settler", "--chains", "ethereum");
    const made = await deposit(world, 9n * USDC);
    // Its sweep is made by one process, its payout by the other.
    await expect.poll(() => world.balance("ethereum", made.address)).toBe(0n);
    await startBase();
    await expectDelivered(world, made);
    await others.stop("scanner,settler", "SIGKILL");
    const meanwhile = await deposit(world, 10n * USDC);
    await expect.poll(() => world.balance("ethereum", meanwhile.address)).toBe(0n);
    const { said } = await others.run("serve", "--roles", "settler", "--chains", "ethereum");
    expect(said).toMatch(/\(as its settler of chain 2\)/);
    const { said: refusal } = await others.run("serve", "--roles", "api", "--chains", "base");
    expect(refusal).toMatch(
      /^--chains: expected one of the roles scanner and settler beside it\n$/,
    );
    await startBase();
    await expectDelivered(world, meanwhile);
    await expectEmptyEscrow(world);
  } finally {
    await others.stopAll();
  }
});
