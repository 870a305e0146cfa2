/** USDC by Circle's CCTP v2, whose contracts and attestation service are stand-ins, on real nodes with the real service. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { afterFast, expectProvedBooks } from "./support/bridge.ts";
import { USDC } from "./support/deposits.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld({ bridge: true });
});
afterAll(async () => {
  await world.close();
});

test("burns USDC on ethereum and mints it to the recipient on base", async () => {
  const recipient = world.newRecipient();
  const { address, quotes } = await world.quote({ from: "ethereum", to: "base", recipient });
  expect(quotes.map(({ type }) => type)).toEqual(["FAST_MCTP", "SWIFT"]);
  // Quoted for 10 USDC.
  expect(quotes[0]?.expectedAmountOutBaseUnits).toBe(String(afterFast(10n * USDC)));
  await world.pay("ethereum", address, 25n * USDC);
  const swap = await world.settled(address);
  expect(swap).toMatchObject({ status: "completed", error: null });
  expect(await world.statuses(swap.id)).toEqual([
    "deploying",
    "pending_swap",
    "swapping",
    "completed",
  ]);
  expect(await world.balance("base", recipient)).toBe(afterFast(25n * USDC));
  expect(await world.balance("ethereum", address)).toBe(0n);
});

test("the ledger matches the chains: every burn was minted, and nothing is in flight", () =>
  expectProvedBooks(world));
