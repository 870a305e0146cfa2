/**
 * Payouts before finality on real nodes: a deposit is delivered after one block although its chain takes long to be final, and
 * a reorganisation that takes deposit and lock away costs the operator the payout, on record, and nobody else anything.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { afterFee, deposit, expectDelivered, USDC } from "./support/deposits.ts";
import { openEarlyWorld, readEarly as readEarlyOf } from "./support/early-world.ts";
import type { World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  world = await openEarlyWorld();
});
afterAll(async () => {
  await world.close();
});

const payFor = (units: bigint) => deposit(world, units * USDC);
const readEarly = () => readEarlyOf(world);

describe("a payout before finality", () => {
  test("is made after one block, counted until its lock is final, and then claimed [T274]", async () => {
    const { address, recipient } = await payFor(40n);
    const swap = await world.settled(address);
    expect(swap.status).toBe("completed");
    expect(await world.reportOf(swap.id)).toMatchObject({ tier: "1", waiting: null });
    expect(await world.balance("base", recipient)).toBe(afterFee(40n * USDC));
    expect(await readEarly()).toMatchObject({ payouts: 1, exposureUsd: "100", closed: null });
    expect(await world.openLocks()).toBe(1);
    await world.until("the lock is claimed", async () => (await world.openLocks()) === 0);
    expect(await readEarly()).toMatchObject({ payouts: 0, countedUsd: "0" });
  });

  test("whose deposit a reorg takes away is the operator's loss, and closes the chain until it is booked [T272]", async () => {
    const { client } = world.chains.ethereum;
    const before = await client.getBlockNumber();
    const lost = await payFor(40n);
    const swap = await world.settled(lost.address);
    // The payer's transaction is not sent again.
    await world.reorganise("ethereum", Number((await client.getBlockNumber()) - before) + 1, []);
    expect(await world.balance("ethereum", lost.address)).toBe(0n);
    // A lock is missing ten minutes after its time.
    // CAST: a method of the node that the client's types do not include.
    await client.request({ method: "evm_increaseTime", params: [700] } as never);
    await world.until("the lock is missing", async () => (await readEarly()).missing.length > 0);
    const [missing] = (await readEarly()).missing;
    expect(missing).toMatchObject({ settlementId: swap.id, worthUsd: "39.97" });
    expect((await readEarly()).closed?.reason).toBe(
      `the lock of ${missing?.deliveryId} is missing`,
    );

    const late = await payFor(10n);
    const paidLate = await world.settled(late.address);
    expect(await world.reportOf(paidLate.id)).toMatchObject({ tier: "finalized" });

    const reason = ["--reason", "the payer spent the coins elsewhere", "--json"];
    await world.command("early", "accept", missing?.deliveryId ?? "", ...reason);
    await world.command("early", "open", "--chain", "ethereum", ...reason);
    const early = await payFor(10n);
    const paidEarly = await world.settled(early.address);
    expect(await world.reportOf(paidEarly.id)).toMatchObject({ tier: "1" });
    for (const { recipient, amount } of [lost, late, early]) {
      expect(await world.balance("base", recipient)).toBe(afterFee(amount));
      expect(await world.countDeliveries("base", recipient)).toBe(1);
    }
    await world.until("the locks are claimed", async () => (await world.openLocks()) === 0);
    expect(await world.command("audit", "--json")).toMatchObject({ ok: true });
  });

  test("beyond the exposure waits until others are final, and says so [T274]", async () => {
    const deposits = [await payFor(40n), await payFor(40n), await payFor(40n)];
    const reasons = new Set<string | undefined>();
    await world.until("all are completed", async () => {
      const swaps = await Promise.all(deposits.map(({ address }) => world.swapsOf(address)));
      const reports = await Promise.all(
        swaps.flatMap(([swap]) => (swap ? [world.reportOf(swap.id)] : [])),
      );
      for (const { waiting } of reports) reasons.add(waiting?.reason);
      return reports.length === 3 && reports.every(({ terminal }) => terminal);
    });
    expect(reasons).toContain("exposure");
    for (const made of deposits) await expectDelivered(world, made);
  });
});
