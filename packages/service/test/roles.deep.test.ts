/** Each role as a process of its own, over one database: one of them is killed, and the others go on. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { deposit, expectDelivered, expectEmptyEscrow, USDC } from "./support/deposits.ts";
import { createProcesses, type Processes } from "./support/processes.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;
let processes: Processes;

beforeAll(async () => {
  world = await openWorld();
  // The whole service gives way to one process for each role; the one that answers stays where clients look for it.
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
  "kill -9 of the %s alone: what it left is done when it is back",
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
