/** Stories of a deposit during which the service is killed, or whose block is orphaned, and the checks after them. */
import { expect } from "vitest";
import {
  afterFee,
  deposit,
  expectDelivered,
  expectEmptyEscrow,
  type PaidDeposit,
  USDC,
} from "./deposits.ts";
import { expectUnbroken } from "./history.ts";
import type { World } from "./world.ts";

/** Kills the service at a crash point of the next deposit, restarts it, and expects exactly one delivery. */
export async function expectDeliveredAfterCrash(world: World, point: string): Promise<void> {
  const amount = 8n * USDC;
  await world.restartService({ crashAt: point });
  const inventoryBefore = await world.inventory("base");
  const made = await deposit(world, amount);
  expect(await world.serviceDeath()).toBe("SIGKILL");

  await world.restartService({});
  await world.settled(made.address);
  // A double payment would have happened before the lock is claimed.
  await expectEmptyEscrow(world);
  const swap = await expectDelivered(world, made);
  expect(await world.inventory("base")).toBe(inventoryBefore - afterFee(amount));
  expect(await world.balance("ethereum", made.address)).toBe(0n);
  expect(await world.swapsOf(made.address)).toHaveLength(1);
  await expectUnbroken(world, swap.id);
}

/** The stage of a deposit when blocks are orphaned, and the chain of the reorg. */
export interface Stage {
  readonly chain: "ethereum" | "base";
  readonly reached: (world: World, made: PaidDeposit) => Promise<boolean>;
}

export const STAGES = {
  detected: {
    chain: "ethereum",
    reached: async (world, { address }) => (await world.deposits(address, 1)).length > 0,
  },
  swept: {
    chain: "ethereum",
    reached: async (world, { address }) =>
      (await world.deposits(address, 1)).length > 0 &&
      (await world.balance("ethereum", address)) === 0n,
  },
  delivered: {
    chain: "base",
    reached: async (world, { recipient }) => (await world.balance("base", recipient)) > 0n,
  },
} as const satisfies Readonly<Record<string, Stage>>;

export interface Reorganisation {
  readonly depth: number;
  readonly stage: Stage;
  /** Whether the service is killed before the reorg. */
  readonly dies: boolean;
}

const AMOUNT = 9n * USDC;
const PATIENCE_MS = 150_000;

/** Plays reorgs one after another, each with its own deposit, and expects every deposit to be delivered once. */
export async function expectDeliveredAfterReorganisations(
  world: World,
  reorganisations: readonly Reorganisation[],
): Promise<void> {
  const deposits: PaidDeposit[] = [];
  for (const { depth, stage, dies } of reorganisations) {
    const made = await deposit(world, AMOUNT);
    deposits.push(made);
    const { chain, reached } = stage;
    await world.until(
      `deposit ${deposits.length} has come to its stage`,
      () => reached(world, made),
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
  // Once every lock is claimed everything is final, so a double effect would be visible.
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
}
