/** Deposits of USDC on ethereum for a recipient on base: paying them, and checks after their delivery. */
import type { Swap } from "@sluice/sdk";
import type { Address, Hex } from "viem";
import { expect } from "vitest";
import type { World } from "./world.ts";

export const USDC = 1_000_000n;

/** Returns an amount less the sandbox's fee of 10 basis points, in base units of any asset. */
export const afterFee = (amount: bigint) => amount - amount / 1000n;

export interface Deposit {
  readonly recipient: Address;
  readonly address: Address;
  readonly amount: bigint;
}

export interface PaidDeposit extends Deposit {
  readonly payment: Hex;
}

/** Pays to the deposit address of a new recipient. */
export async function deposit(world: World, amount: bigint): Promise<PaidDeposit> {
  const recipient = world.newRecipient();
  const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
  const payment = await world.pay("ethereum", address, amount);
  return { recipient, address, amount, payment };
}

/** Waits until a deposit is settled, and checks that its recipient was paid once. */
export async function expectDelivered(world: World, made: Deposit): Promise<Swap> {
  const swap = await world.settled(made.address);
  expect(swap.status).toBe("completed");
  expect(await world.balance("base", made.recipient)).toBe(afterFee(made.amount));
  expect(await world.countDeliveries("base", made.recipient)).toBe(1);
  return swap;
}

/** Waits until every lock is claimed, so that the escrow holds no deposit. */
export async function expectEmptyEscrow(world: World): Promise<void> {
  await world.until("no lock is open", async () => (await world.openLocks()) === 0);
  expect(await world.escrowBalance("ethereum")).toBe(0n);
}
