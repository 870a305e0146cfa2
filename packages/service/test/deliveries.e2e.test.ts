/** Deposits on real nodes, contracts, database and sockets: each is delivered to the destination of its address. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { predictWallet, verifyDepositAddress } from "@sluice/sdk";
import { afterFee, USDC } from "./support/deposits.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

describe("delivery", () => {
  test("delivers USDC on ethereum as USDC on base, and deploys the wallet", async () => {
    const recipient = world.newRecipient();
    const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
    await world.pay("ethereum", address, 25n * USDC);
    const swap = await world.settled(address);
    expect(swap).toMatchObject({
      status: "completed",
      terminal: true,
      category: "success",
      error: null,
      chainId: 2,
      amount: "25000000",
      destChain: "30",
    });
    expect(await world.statuses(swap.id)).toEqual([
      "deploying",
      "pending_swap",
      "swapping",
      "completed",
    ]);
    expect(await world.balance("base", recipient)).toBe(afterFee(25n * USDC));
    expect(await world.balance("ethereum", address)).toBe(0n);
    expect(await world.hasCode("ethereum", address)).toBe(true);
  });

  test("settles a second payment to the same address without a deployment", async () => {
    const recipient = world.newRecipient();
    const { address } = await world.quote({ from: "base", to: "ethereum", recipient });
    await world.pay("base", address, 5n * USDC);
    const first = await world.settled(address);
    await world.pay("base", address, 7n * USDC);
    const second = await world.settled(address, { after: first.id });
    expect(await world.statuses(second.id)).toEqual(["swapping", "completed"]);
    expect(await world.balance("ethereum", recipient)).toBe(
      afterFee(5n * USDC) + afterFee(7n * USDC),
    );
  });

  test("delivers USDC on the same chain", async () => {
    const recipient = world.newRecipient();
    const { address, quotes } = await world.quote({ from: "base", to: "base", recipient });
    expect(quotes.map((quote) => quote.type)).toEqual(["MONO_CHAIN"]);
    await world.pay("base", address, 3n * USDC);
    const first = await world.settled(address);
    expect(await world.balance("base", recipient)).toBe(afterFee(3n * USDC));
    await world.pay("base", address, 4n * USDC);
    const second = await world.settled(address, { after: first.id });
    expect(await world.statuses(second.id)).toEqual(["swapping", "completed"]);
    expect(await world.balance("base", recipient)).toBe(afterFee(3n * USDC) + afterFee(4n * USDC));
    expect(await world.balance("base", address)).toBe(0n);
  });

  test("claims every lock, and escrow and treasury hold the deposited amounts", async () => {
    await world.until("no lock is open", async () => (await world.openLocks()) === 0, 60_000);
    expect(await world.escrowBalance("ethereum")).toBe(0n);
    expect(await world.escrowBalance("base")).toBe(0n);
    expect(await world.treasuryBalance("ethereum")).toBe(25n * USDC);
    expect(await world.treasuryBalance("base")).toBe(12n * USDC);
  });
});

describe("gate", () => {
  test("reports a deposit below the minimum, which waits until another lifts the balance [V9]", async () => {
    const recipient = world.newRecipient();
    const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
    await world.pay("ethereum", address, USDC - 1n);
    const ignored = await world.deposits(address, 1);
    expect(ignored).toEqual([
      expect.objectContaining({ queued: false, ignoredReason: "below_token_min" }),
    ]);
    expect(await world.swapsOf(address)).toEqual([]);
    expect(await world.balance("ethereum", address)).toBe(USDC - 1n);

    await world.pay("ethereum", address, 1n);
    const swap = await world.settled(address);
    expect(swap.amount).toBe("1000000");
    expect(await world.balance("base", recipient)).toBe(afterFee(USDC));
    const both = await world.deposits(address, 2);
    expect(both[1]).not.toHaveProperty("ignoredReason");
    expect(both[1]?.queued).toBe(true);
  });
});

describe("deposits during a settlement", () => {
  test("are all delivered when a second and a third arrive while the first is in flight [T75]", async () => {
    const recipient = world.newRecipient();
    const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
    await world.pay("ethereum", address, 10n * USDC);
    await world.until("the first is being swept", async () => {
      const [swap] = await world.swapsOf(address);
      return swap?.status === "swapping";
    });
    await world.pay("ethereum", address, 20n * USDC);
    await world.pay("ethereum", address, 30n * USDC);
    await world.until("the wallet is empty and nothing is active", async () => {
      const swaps = await world.swapsOf(address);
      const balance = await world.balance("ethereum", address);
      const seen = await world.deposits(address, 0);
      return balance === 0n && seen.length >= 3 && swaps.every((swap) => swap.terminal);
    });
    const swaps = await world.swapsOf(address);
    expect(swaps.every((swap) => swap.status === "completed")).toBe(true);
    const deposits = await world.deposits(address, 3);
    expect(deposits.map((deposit) => deposit.queued)).toEqual([true, true, true]);
    expect(await world.balance("base", recipient)).toBe(afterFee(60n * USDC));
  });
});

describe("addresses", () => {
  test("the quoted address equals the factory's and the one computed offline [M8]", async () => {
    const recipient = world.newRecipient();
    const { address, quote } = await world.quote({ from: "ethereum", to: "base", recipient });
    const claimed = quote.payDepositCommitment;
    if (!claimed) throw new Error("the quote carries its commitment");
    expect(predictWallet({ factory: world.factory, commitment: claimed })).toBe(address);
    for (const chain of ["ethereum", "base"] as const) {
      expect(await world.predictOnChain(chain, claimed)).toBe(address);
    }
    const verified = verifyDepositAddress({
      address,
      commitment: claimed,
      factory: world.factory,
      expected: { destChain: 30, destWallet: recipient },
    });
    expect(verified.kind).toBe("ok");
  });

  test("simultaneous first quotes return one address [T107]", async () => {
    const recipient = world.newRecipient();
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => world.quote({ from: "ethereum", to: "base", recipient })),
    );
    expect(new Set(answers.map(({ address }) => address)).size).toBe(1);
    const listed = await world.addressesOf(0);
    expect(listed.filter((item) => item.walletAddress === answers[0]?.address).length).toBe(1);
  });

  test("two integrators with the same user and recipient get different addresses [T108]", async () => {
    const recipient = world.newRecipient();
    const userId = `0x${"ab".repeat(20)}`;
    const one = await world.quote({ from: "ethereum", to: "base", recipient, userId });
    const other = await world.quote({ from: "ethereum", to: "base", recipient, userId, by: 1 });
    expect(one.address).not.toBe(other.address);
  });

  test("two integrators never see each other's rows or events [I1]", async () => {
    const recipient = world.newRecipient();
    const userId = `0x${"cd".repeat(20)}`;
    const mine = await world.quote({ from: "ethereum", to: "base", recipient, userId, by: 0 });
    const theirs = await world.quote({ from: "ethereum", to: "base", recipient, userId, by: 1 });
    await world.pay("ethereum", mine.address, 2n * USDC);
    await world.pay("ethereum", theirs.address, 3n * USDC);
    await world.settled(mine.address);
    await world.settled(theirs.address, { by: 1 });
    for (const [by, own, foreign] of [
      [0, mine.address, theirs.address],
      [1, theirs.address, mine.address],
    ] as const) {
      const seen = JSON.stringify([
        await world.addressesOf(by),
        await world.allSwaps(by),
        await world.allEvents(by),
        world.liveEvents(by),
      ]);
      expect(seen).toContain(own);
      expect(seen).not.toContain(foreign);
    }
  });

  test("a key without deposit addressing gets quotes without an address", async () => {
    const recipient = world.newRecipient();
    const answer = await world.quoteRaw({ from: "ethereum", to: "base", recipient, by: 2 });
    expect(answer.quotes.length).toBeGreaterThan(0);
    expect(answer.quotes.every((quote) => quote.payDepositAddress === null)).toBe(true);
  });

  test("an amount below the token's minimum gets quotes without an address", async () => {
    const recipient = world.newRecipient();
    const answer = await world.quoteRaw({
      from: "ethereum",
      to: "base",
      recipient,
      amount: USDC - 1n,
    });
    expect(answer.quotes.map((quote) => quote.payDepositAddress)).toEqual([null]);
  });
});

describe("events", () => {
  test("the replay equals the live stream [E5]", async () => {
    for (const by of [0, 1]) {
      await world.until("the stream has caught up", async () => {
        return world.liveEvents(by).length === (await world.allEvents(by)).length;
      });
      const replayed = await world.allEvents(by);
      const live = world.liveEvents(by);
      expect(replayed.length).toBeGreaterThan(0);
      expect(live).toEqual(
        replayed.map(({ type, data, timestamp }) => ({ type, data, timestamp })),
      );
      const stamps = replayed.map((event) => event.timestamp);
      expect(stamps).toEqual([...new Set(stamps)].toSorted());
    }
  });

  test("the events of every settlement form one chain that ends in its final status [E2]", async () => {
    for (const swap of await world.allSwaps(0)) {
      const events = await world.statusEvents(swap.id);
      expect(events.slice(1).map((event) => event.prevStatus)).toEqual(
        events.slice(0, -1).map((event) => event.status),
      );
      expect(events.at(-1)?.status).toBe(swap.status);
      expect(events.filter((event) => event.terminal).length).toBe(swap.terminal ? 1 : 0);
    }
  });
});
