/** Reorganisations of real nodes, up to the last block that is not final: each deposit is delivered exactly once. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { afterFee, deposit, type PaidDeposit, USDC } from "./support/deposits.ts";
import { expectUnbroken } from "./support/history.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  // Final is eight behind the head.
  world = await openWorld({ slotsInAnEpoch: 4 });
});
afterAll(async () => {
  await world.close();
});

const AMOUNT = 9n * USDC;
const PATIENCE_MS = 150_000;

/** How far a deposit has come when the blocks go, and on which chain. */
const STAGES = [
  {
    chain: "ethereum",
    reached: async ({ address }: PaidDeposit) => (await world.deposits(address, 1)).length > 0,
  },
  {
    chain: "ethereum",
    reached: async ({ address }: PaidDeposit) =>
      (await world.deposits(address, 1)).length > 0 &&
      (await world.balance("ethereum", address)) === 0n,
  },
  {
    chain: "base",
    reached: async ({ recipient }: PaidDeposit) => (await world.balance("base", recipient)) > 0n,
  },
] as const;

/** Every depth at every stage, and every other time the service dies before the blocks go. */
const PAIRS = Array.from({ length: 8 }, (_, index) => index + 1).flatMap((depth) =>
  STAGES.map((stage, position) => ({ depth, stage, dies: (depth + position) % 2 === 0 })),
);

test("T44 T65 reorganisations of depth 1 to 8 at every stage, with and without kill -9: each deposit is delivered once", async () => {
  const deposits: PaidDeposit[] = [];
  for (const { depth, stage, dies } of PAIRS) {
    const made = await deposit(world, AMOUNT);
    deposits.push(made);
    const { chain, reached } = stage;
    await world.until(
      `deposit ${deposits.length} has come to its stage`,
      () => reached(made),
      PATIENCE_MS,
    );
    if (dies) await world.killService();
    const payments = chain === "ethereum" ? deposits.map(({ payment }) => payment) : [];
    await world.reorganise(chain, depth, payments);
    if (dies) await world.restartService({});
  }
  for (const { recipient } of deposits) {
    const isDelivered = async () => (await world.balance("base", recipient)) > 0n;
    await world.until("it is delivered", isDelivered, PATIENCE_MS);
  }
  // Once every lock is claimed, all of it is final, and whatever was going to happen twice has happened.
  const isClaimed = async () => (await world.openLocks()) === 0;
  await world.until("no lock is open", isClaimed, PATIENCE_MS);
  for (const { recipient, address } of deposits) {
    expect(await world.balance("base", recipient)).toBe(afterFee(AMOUNT));
    expect(await world.countDeliveries("base", recipient)).toBe(1);
    expect(await world.balance("ethereum", address)).toBe(0n);
    const swaps = await world.swapsOf(address);
    const completed = swaps.filter(({ status }) => status === "completed");
    expect(completed).toHaveLength(1);
    expect(swaps.every(({ terminal }) => terminal)).toBe(true);
    for (const { id } of completed) await expectUnbroken(world, id);
  }
  expect(await world.escrowBalance("ethereum")).toBe(0n);
}, 900_000);
