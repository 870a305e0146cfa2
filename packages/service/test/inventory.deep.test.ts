/** Inventory that is too low, and locks that cannot be paid in time: nothing is lost, and settling resumes by itself. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { deliveryAbi } from "@sluice/contracts/abi";
import { encodeFunctionData } from "viem";
import { afterFee, USDC } from "./support/deposits.ts";
import { openWorld, type World } from "./support/world.ts";

/** Long enough for a payout on a busy machine, short enough to wait for. */
const PAYOUT_WINDOW_S = 20;

let world: World;

beforeAll(async () => {
  world = await openWorld({ payoutWindowSeconds: PAYOUT_WINDOW_S });
});
afterAll(async () => {
  await world.close();
});

test("defers without a lock while inventory is too low, and continues once it is refilled", async () => {
  const recipient = world.newRecipient();
  const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
  await world.emptyInventory("base");
  await world.pay("ethereum", address, 40n * USDC);
  await world.until("the settlement is deferred", async () => {
    const [swap] = await world.swapsOf(address);
    return swap?.error?.code === "INSUFFICIENT_BALANCE";
  });
  const [deferred] = await world.swapsOf(address);
  expect(deferred).toMatchObject({
    status: "failed_swap",
    error: { retryable: true, details: { reason: "inventory_too_low", needed: "40" } },
  });
  expect(await world.balance("ethereum", address)).toBe(40n * USDC);
  expect(await world.escrowBalance("ethereum")).toBe(0n);

  await world.fillInventory("base", 1_000n * USDC);
  const swap = await world.settled(address);
  expect(swap).toMatchObject({ status: "completed", error: null });
  expect(await world.balance("base", recipient)).toBe(afterFee(40n * USDC));
  expect(await world.countDeliveries("base", recipient)).toBe(1);

  await world.until("the lock is claimed", async () => (await world.openLocks()) === 0);
  const { inventories } = await world.command("inventory", "--json");
  expect(inventories).toContainEqual({
    chain: "base",
    symbol: "USDC",
    token: world.deployment.chains.base.token.toLowerCase(),
    balance: "960.04",
    reserved: "0",
    capLeft: "999960.04",
    available: "960.04",
    unpaid: { count: 0, amount: "0" },
    unclaimed: {
      count: expect.any(Number),
      amount: expect.any(String),
      oldestMinutes: expect.toBeOneOf([0, null]),
    },
    paidIn7Days: "39.96",
    runwayHours: "4036",
  });
});

test("sweeps what fits the daily cap, and defers the rest until there is room [T170, T191]", async () => {
  const recipient = world.newRecipient();
  const { address } = await world.quote({ from: "base", to: "ethereum", recipient });
  const { token, delivery } = world.deployment.chains.ethereum;
  const args = [token, 40n * USDC] as const;
  const data = encodeFunctionData({ abi: deliveryAbi, functionName: "lowerCap", args });
  await world.asOwner("ethereum", { to: delivery, data });
  await world.pay("base", address, 70n * USDC);
  await world.until("a part is delivered and the rest is deferred", async () => {
    const swaps = await world.swapsOf(address);
    return (
      swaps.some(({ status }) => status === "completed") &&
      swaps.some(({ error }) => error?.details?.["reason"] === "daily_cap_reached")
    );
  });
  expect(await world.swapsOf(address)).toHaveLength(2);
  expect(await world.deposits(address, 1)).toHaveLength(1);
  const left = await world.balance("base", address);
  const swept = 70n * USDC - left;
  expect(swept).toBeGreaterThan(0n);
  const paid = await world.balance("ethereum", recipient);
  expect(paid).toBe(afterFee(swept));
  expect(paid).toBeLessThanOrEqual(40n * USDC);
  expect(await world.countDeliveries("ethereum", recipient)).toBe(1);
});

test("returns a lock that was not paid in time to its address, and settles it from there", async () => {
  const recipient = world.newRecipient();
  const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
  await world.pay("ethereum", address, 50n * USDC);
  await world.until("the deposit is locked", async () => {
    return (await world.balance("ethereum", address)) === 0n;
  });
  // Between lock and payout the owner withdraws the reserved inventory.
  await world.emptyInventory("base");
  const [waiting] = await world.swapsOf(address);
  // Long before it could: the refund authority is told when.
  const plan = await world.command("settlement", "take-back", waiting?.id ?? "", "--json");
  expect(plan).toMatchObject({ step: "announce", settlementId: waiting?.id });
  await world.until(
    "the lock is back in the wallet",
    async () => (await world.balance("ethereum", address)) === 50n * USDC,
    90_000,
  );
  expect(await world.countDeliveries("base", recipient)).toBe(0);
  expect(await world.deposits(address, 1)).toHaveLength(1);

  await world.fillInventory("base", 1_000n * USDC);
  const swap = await world.settled(address);
  expect(swap).toMatchObject({ status: "completed", error: null });
  expect(await world.balance("base", recipient)).toBe(afterFee(50n * USDC));
  expect(await world.countDeliveries("base", recipient)).toBe(1);
  expect(await world.deposits(address, 1)).toHaveLength(1);
  expect(await world.swapsOf(address)).toHaveLength(1);
});
