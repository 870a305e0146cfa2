/** `kill -9` of the service at the points where forgetting would cost money: each deposit is delivered exactly once. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { afterFee, deposit, expectDelivered, expectEmptyEscrow, USDC } from "./support/deposits.ts";
import { expectUnbroken } from "./support/history.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  // What is looked at is how each case ends, so it may come soon.
  world = await openWorld({ blockMs: 100 });
});
afterAll(async () => {
  await world.close();
});

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
    const inventoryBefore = await world.inventory("base");
    const made = await deposit(world, 8n * USDC);
    expect(await world.serviceDeath()).toBe("SIGKILL");

    await world.restartService({});
    await world.settled(made.address);
    // Once its lock is claimed, whatever was going to be paid twice has been.
    await expectEmptyEscrow(world);
    const swap = await expectDelivered(world, made);
    expect(await world.inventory("base")).toBe(inventoryBefore - afterFee(8n * USDC));
    expect(await world.balance("ethereum", made.address)).toBe(0n);
    expect(await world.swapsOf(made.address)).toHaveLength(1);
    await expectUnbroken(world, swap.id);
  });
});
