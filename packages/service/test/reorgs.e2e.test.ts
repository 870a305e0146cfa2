/** Reorganisations of real nodes, up to the last block that is not final: each deposit is delivered exactly once. */
import type { Address, Hex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  // Final is eight behind the head.
  world = await openWorld({ slotsInAnEpoch: 4 });
});
afterAll(async () => {
  await world.close();
});

const USDC = 1_000_000n;
const AMOUNT = 9n * USDC;
const afterFee = (amount: bigint) => amount - amount / 1000n;
const PATIENCE_MS = 150_000;

interface Deposit {
  readonly recipient: Address;
  readonly address: Address;
  readonly payment: Hex;
}

async function deposit(): Promise<Deposit> {
  const recipient = world.newRecipient();
  const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
  const payment = await world.pay("ethereum", address, AMOUNT);
  return { recipient, address, payment };
}

/** How far a deposit has come when the blocks go, and on which chain. */
const STAGES = [
  {
    chain: "ethereum",
    reached: async ({ address }: Deposit) => (await world.deposits(address, 1)).length > 0,
  },
  {
    chain: "ethereum",
    reached: async ({ address }: Deposit) =>
      (await world.deposits(address, 1)).length > 0 &&
      (await world.balance("ethereum", address)) === 0n,
  },
  {
    chain: "base",
    reached: async ({ recipient }: Deposit) => (await world.balance("base", recipient)) > 0n,
  },
] as const;

test("T44 T65 reorganisations of depth 1 to 8 at every stage: each deposit is delivered once", async () => {
  const deposits: Deposit[] = [];
  for (let depth = 1; depth <= 8; depth++) {
    const made = await deposit();
    deposits.push(made);
    const { chain, reached } = STAGES[(depth - 1) % 3] ?? STAGES[0];
    await world.until(`deposit ${depth} has come to its stage`, () => reached(made), PATIENCE_MS);
    const payments = chain === "ethereum" ? deposits.map(({ payment }) => payment) : [];
    await world.reorganise(chain, depth, payments);
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
    expect(swaps.filter(({ status }) => status === "completed")).toHaveLength(1);
    expect(swaps.every(({ terminal }) => terminal)).toBe(true);
  }
  expect(await world.escrowBalance("ethereum")).toBe(0n);
}, 600_000);
