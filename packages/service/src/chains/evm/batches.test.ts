/** Batches on a real node with the real factory. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NATIVE_TOKEN } from "../../core/hex.ts";
import { HERE, openWorld, THERE, unknownLock, USDC, type World } from "../../../test/evm/world.ts";
import type { Call, GasCall } from "../port/index.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

async function withGas(calls: readonly Call[]): Promise<GasCall[]> {
  return Promise.all(
    calls.map(async (call) => {
      const simulation = await world.here.simulate(world.lane.address, call);
      if (!simulation.ok) throw new Error(`would revert: ${simulation.reason}`);
      return { call, gas: simulation.gas };
    }),
  );
}

async function newDeposit(destChain: number) {
  const commitment = world.commitmentTo(destChain);
  const wallet = world.here.predictWallet(commitment);
  await world.mint(world.usdc, wallet, 5n * USDC);
  return { commitment, wallet, call: world.settleCall(commitment) };
}

describe("deployments", () => {
  test("are batched; a deployment already made by a third party has no effect of ours", async () => {
    const commitments = [1, 2, 3].map(() => world.commitmentTo(HERE));
    const calls = commitments.map((commitment) => world.here.wallets.buildDeploy(commitment));
    const batch = world.here.combine(await withGas(calls));
    expect(batch?.members).toEqual([0, 1, 2]);
    if (!batch || !calls[1]) throw new Error("a batch was expected");
    await world.execute(world.here, calls[1]);
    const receipt = await world.executeBlindly(world.here, batch.call, batch.gas);
    const effects = calls.map((call) => world.here.tookEffect(receipt, call));
    expect(effects).toEqual([true, false, true]);
    for (const commitment of commitments) {
      expect(await world.here.wallets.hasCode(world.here.predictWallet(commitment))).toBe(true);
    }
  });
});

describe("settlements", () => {
  test("are batched across routes, and a failing one does not revert the others", async () => {
    const deposits = [await newDeposit(HERE), await newDeposit(THERE), await newDeposit(HERE)];
    const calls = deposits.map(({ call }) => call);
    const batch = world.here.combine(await withGas(calls));
    if (!batch || !deposits[0]) throw new Error("a batch was expected");
    // A third party settles the first wallet, which empties it.
    await world.execute(world.here, deposits[0].call);
    const receipt = await world.executeBlindly(world.here, batch.call, batch.gas);
    expect(receipt.succeeded).toBe(true);
    expect(calls.map((call) => world.here.tookEffect(receipt, call))).toEqual([false, true, true]);
    for (const { wallet } of deposits) {
      expect(await world.here.getBalance(world.usdc, wallet)).toBe(0n);
    }
  });

  test("get enough gas for each job to use the largest job's limit", async () => {
    const deposits: Awaited<ReturnType<typeof newDeposit>>[] = [];
    for (let count = 0; count < 12; count += 1) deposits.push(await newDeposit(THERE));
    const calls = await withGas(deposits.map(({ call }) => call));
    const batch = world.here.combine(calls);
    if (!batch) throw new Error("a batch was expected");
    const most = calls.reduce((gas, one) => (one.gas > gas ? one.gas : gas), 0n);
    expect(batch.gas).toBeGreaterThan(most * BigInt(calls.length));
    const receipt = await world.executeBlindly(world.here, batch.call, batch.gas);
    expect(calls.every(({ call }) => world.here.tookEffect(receipt, call))).toBe(true);
  });
});

describe("payouts and claims", () => {
  test("are batched, and a failing member does not revert the others", async () => {
    const locks = [await world.lockDeposit(), await world.lockDeposit(), await world.lockDeposit()];
    const minOut = locks.reduce(
      (most, { facts }) => (facts.minOut > most ? facts.minOut : most),
      0n,
    );
    await world.mint(world.usdcThere, world.contractsThere.delivery, 3n * minOut);
    const orders = locks.map(({ commitment, facts, lockedAt: windowStart }) => {
      const { amount: lockedAmount, token: srcToken, ...lock } = facts;
      const { minOut: least, seq } = lock;
      const { escrow } = world.contractsHere;
      const places = { srcChain: HERE, escrow, srcToken, lockedAmount };
      return { commitment, ...places, minOut: least, seq, windowStart, amount: least };
    });
    const payouts = await Promise.all(
      orders.map(async (order, index) => {
        const signed = index === 1 ? { ...order, amount: order.amount + 1n } : order;
        return world.there.buildDeliver(order, await world.attestor.signDelivery(THERE, signed));
      }),
    );
    const calls = payouts.map((call) => ({ call, gas: 200_000n }));
    const batch = world.there.combine(calls);
    expect(batch?.members).toEqual([0, 1, 2]);
    if (!batch) throw new Error("a batch was expected");
    const receipt = await world.executeBlindly(world.there, batch.call, batch.gas);
    const paid = payouts.map((call) => world.there.tookEffect(receipt, call));
    expect(paid).toEqual([true, false, true]);

    const claims = await Promise.all(
      locks.map(async ({ commitment, facts, deliveryId }, index) => {
        const { timestamp: deadline } = await world.client.getBlock();
        const claim = { deliveryId, paidAmount: facts.minOut, deadline: deadline + 600n };
        const signed = index === 2 ? { ...claim, paidAmount: 1n } : claim;
        const signature = await world.attestor.signClaim(HERE, signed);
        return world.here.buildClaim(claim, signature, { commitment, facts });
      }),
    );
    const claiming = world.here.combine(claims.map((call) => ({ call, gas: 200_000n })));
    if (!claiming) throw new Error("a batch was expected");
    const released = await world.executeBlindly(world.here, claiming.call, claiming.gas);
    const claimed = claims.map((call) => world.here.tookEffect(released, call));
    expect(claimed).toEqual([true, true, false]);
  });
});

describe("exclusions from a batch", () => {
  const one = () => world.here.wallets.buildDeploy(world.commitmentTo(HERE));
  const giveBack = () =>
    world.here.buildReturn({ deliveryId: `0x${"11".repeat(32)}` as never, deadline: 1n }, "0x", {
      commitment: world.commitmentTo(HERE),
      facts: unknownLock(),
    });

  test("does not batch fewer than two calls, calls of two kinds, or calls of other contracts", () => {
    const gas = 100_000n;
    expect(world.here.combine([])).toBeNull();
    expect(world.here.combine([{ call: one(), gas }])).toBeNull();
    const settle = world.settleCall(world.commitmentTo(HERE));
    expect(
      world.here.combine([
        { call: one(), gas },
        { call: settle, gas },
      ]),
    ).toBeNull();
    expect(world.here.combine([giveBack(), giveBack()].map((call) => ({ call, gas })))).toBeNull();
    expect(
      world.here.combine([{ call: { to: NATIVE_TOKEN, data: "0x", value: 0n }, gas }]),
    ).toBeNull();
  });

  test("batches the matching calls of a mixed queue", () => {
    const gas = 100_000n;
    const calls = [giveBack(), one(), giveBack(), one()].map((call) => ({ call, gas }));
    expect(world.here.combine(calls)?.members).toEqual([1, 3]);
  });

  test("does not put a batch into another batch", () => {
    const gas = 100_000n;
    const batch = world.here.combine([one(), one()].map((call) => ({ call, gas })));
    if (!batch) throw new Error("a batch was expected");
    expect(world.here.combine([batch, batch])).toBeNull();
  });

  test("leaves calls beyond fifty, or beyond the signer's gas limit, for the next batch", () => {
    const calls = (count: number, gas: bigint) =>
      Array.from({ length: count }, () => ({ call: one(), gas }));
    expect(world.here.combine(calls(60, 100_000n))?.members).toHaveLength(50);
    const large = world.here.combine(calls(60, 1_000_000n));
    expect(large?.members).toHaveLength(7);
    expect(large?.gas).toBeLessThanOrEqual(8_000_000n);
  });
});
