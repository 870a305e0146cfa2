/** `kill -9` of the service at the points where forgetting would cost money: each deposit is delivered exactly once. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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

describe("kill -9", () => {
  test.each(
    ["deploy", "sweep", "deliver", "claim"].flatMap((effect) => [
      ["T60", `${effect}.signed`, "signed and committed, not sent"],
      ["T59", `${effect}.sent`, "sent, not recorded"],
      ["T59", `${effect}.mined`, "mined, not recorded"],
    ]),
  )("%s at %s (%s), then a start, delivers exactly once", async (_threat, point) => {
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
  });
});
