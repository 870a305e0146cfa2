/** `kill -9` of the service at the points where forgetting would cost money: each deposit is delivered exactly once. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectUnbroken } from "./support/history.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

const USDC = 1_000_000n;
const afterFee = (amount: bigint) => amount - amount / 1000n;

/** Between each pair of steps, from the block that brings the deposit to the claim of its lock. */
const POINTS = [
  ["scan.arrived", "the deposit is recorded, its block is not"],
  ["scan.pushed", "the block is recorded"],
  ["attest.judged", "signed, not answered"],
  ["attest.answered", "answered, nobody woken"],
  ...["deploy", "sweep", "deliver", "claim"].flatMap((effect) => [
    [`${effect}.assigned`, "it has its nonce and no bytes"],
    [`${effect}.signed`, "T60 signed and committed, not sent"],
    [`${effect}.sent`, "T59 sent, not recorded"],
    [`${effect}.mined`, "T59 mined, not recorded"],
    [`${effect}.recorded`, "recorded, nobody woken"],
  ]),
];

describe("kill -9", () => {
  test.each(POINTS)("at %s (%s), then a start, delivers exactly once", async (point) => {
    await world.restartService({ crashAt: point });
    const recipient = world.newRecipient();
    const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
    const inventoryBefore = await world.inventory("base");
    await world.pay("ethereum", address, 8n * USDC);
    expect(await world.serviceDeath()).toBe("SIGKILL");

    await world.restartService({});
    const swap = await world.settled(address);
    expect(swap.status).toBe("completed");
    await world.until("no lock is open", async () => (await world.openLocks()) === 0, 60_000);
    expect(await world.balance("base", recipient)).toBe(afterFee(8n * USDC));
    expect(await world.inventory("base")).toBe(inventoryBefore - afterFee(8n * USDC));
    expect(await world.countDeliveries("base", recipient)).toBe(1);
    expect(await world.balance("ethereum", address)).toBe(0n);
    expect(await world.escrowBalance("ethereum")).toBe(0n);
    expect(await world.swapsOf(address)).toHaveLength(1);
    await expectUnbroken(world, swap.id);
  });
});
