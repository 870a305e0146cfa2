/** The attestor's key is lost, and the cold attestor takes over: paid locks are claimed, long before a take-back. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { afterFee, USDC } from "./support/deposits.ts";
import { beginDrill } from "./support/drill.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

async function payFor(recipient: `0x${string}`) {
  const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
  await world.pay("ethereum", address, 25n * USDC);
  return address;
}

test("the cold attestor claims locks paid before the loss, and attests new payouts [T162]", async () => {
  const before = await world.treasuryBalance("ethereum");
  const first = await payFor(world.newRecipient());
  await world.settled(first);
  const recovered = beginDrill("an attestor lost");
  await world.killService();

  const config = JSON.parse(readFileSync(world.configPath, "utf8"));
  const lost: string = config.attestor.key.file;
  config.attestor.key.file = join(
    dirname(lost),
    basename(lost).replace("attestor", "cold-attestor"),
  );
  writeFileSync(world.configPath, JSON.stringify(config));
  rmSync(lost);
  await world.restartService({});

  const recipient = world.newRecipient();
  const second = await payFor(recipient);
  await world.settled(second);
  expect(await world.balance("base", recipient)).toBe(afterFee(25n * USDC));
  recovered();
  await world.until("both locks are claimed", async () => (await world.openLocks()) === 0);
  const claimed = (await world.treasuryBalance("ethereum")) - before;
  expect(claimed).toBe(50n * USDC);
});
