/**
 * A deposit that a reorganisation took away after its early payout, and that is made again, on real nodes: its lock is the same, so
 * it is claimed, and the loss that the operator had accepted ends. A world of its own: a reorganisation
 * takes back by how much the clock of a node was moved, so that a second one of these would not see its lock as missing.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { afterFee, deposit, USDC } from "./support/deposits.ts";
import { openEarlyWorld, readEarly as readEarlyOf } from "./support/early-world.ts";
import type { World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  world = await openEarlyWorld();
});
afterAll(async () => {
  await world.close();
});

const readEarly = () => readEarlyOf(world);

test("a lost deposit that is made again comes back as the same lock, and ends the accepted loss [T316]", async () => {
  const { client } = world.chains.ethereum;
  const before = await client.getBlockNumber();
  const lost = await deposit(world, 30n * USDC);
  const first = await world.settled(lost.address);
  await world.reorganise("ethereum", Number((await client.getBlockNumber()) - before) + 1, []);
  // CAST: a method of the node that the client's types do not include.
  await client.request({ method: "evm_increaseTime", params: [700] } as never);
  await world.until("the lock is missing", async () => (await readEarly()).missing.length > 0);
  const [missing] = (await readEarly()).missing;
  expect(missing).toMatchObject({ settlementId: first.id });
  const reason = ["--reason", "the payer has not paid again", "--json"];
  await world.command("early", "accept", missing?.deliveryId ?? "", ...reason);
  await world.command("early", "open", "--chain", "ethereum", ...reason);

  // The lock of the next payment has the number of the one that was lost, and everything else too.
  await world.pay("ethereum", lost.address, lost.amount);
  await world.until("both settlements are completed", async () => {
    const swaps = await world.swapsOf(lost.address);
    return swaps.length === 2 && swaps.every(({ status }) => status === "completed");
  });
  await world.until("the lock is claimed", async () => (await world.openLocks()) === 0);
  expect(await world.balance("base", lost.recipient)).toBe(afterFee(lost.amount));
  expect(await world.countDeliveries("base", lost.recipient)).toBe(1);
  expect(await world.balance("ethereum", lost.address)).toBe(0n);
  expect(await world.command("audit", "--json")).toMatchObject({ ok: true });
});
