/** Each role as a process of its own on one database: one is killed, and the others continue. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { deposit, expectDelivered, expectEmptyEscrow, USDC } from "./support/deposits.ts";
import { createProcesses, type Processes } from "./support/processes.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;
let processes: Processes;

beforeAll(async () => {
  world = await openWorld();
  // One process for each role replaces the whole service; the api keeps its URL.
  await world.replaceService({ roles: "api,quoter" });
  processes = createProcesses(world.configPath);
  for (const role of ["scanner", "settler", "attestor"]) await processes.serve(role);
});
afterAll(async () => {
  await processes.stopAll();
  await world.close();
});

test("delivers a deposit with the roles in five processes", async () => {
  await expectDelivered(world, await deposit(world, 5n * USDC));
});

test.each(["scanner", "settler", "attestor"])(
  "deposits before and during kill -9 of the %s are delivered after its restart",
  async (role) => {
    const before = await deposit(world, 6n * USDC);
    await processes.stop(role, "SIGKILL");
    const meanwhile = await deposit(world, 7n * USDC);
    await processes.serve(role);
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

test("leaves no process and no open work", async () => {
  await expectEmptyEscrow(world);
});
