/** Polls of due settlements, against real PostgreSQL. */
import { describe, expect, test } from "vitest";
import { type Desk, openDesk } from "../../test/support/settlement-desk.ts";
import { createRouteBook } from "../routes/index.ts";
import { LEASE_MS } from "../jobs/delays.ts";
import { createSettlementsPoll, pollDueSettlements } from "./advance.ts";
import { dueSettlements } from "./store/due.ts";

test("a due settlement leased by one worker is not leased to another until the lease ends [T62]", async () => {
  const desk = await openDesk();
  for (const user of ["0x01", "0x02", "0x03"]) {
    desk.state.balance = 1_000n;
    await desk.arrive(await desk.issue(user), { amount: 1_000n, block: 5n });
  }
  const leaseMs = 30_000;
  const nowMs = desk.clock.now();
  const take = (atMs: number) =>
    dueSettlements.lease(desk.db, { chainId: 2, nowMs: atMs, leaseMs, limit: 2 });
  const [first, second] = await Promise.all([take(nowMs), take(nowMs)]);
  const all = (await desk.swaps()).map(({ id }) => id);
  expect([...first, ...second].toSorted()).toEqual(all.toSorted());
  expect(await take(nowMs + leaseMs - 1)).toEqual([]);
  expect((await take(nowMs + leaseMs)).length).toBe(2);
});

test("a poll takes at most 60 of the settlements that became due in an outage [T77]", async () => {
  const desk = await openDesk();
  desk.state.balance = 1_000n;
  for (let user = 16; user < 77; user++) {
    const address = await desk.issue(`0x${user.toString(16)}`);
    await desk.arrive(address, { amount: 1_000n, block: 5n });
  }
  expect(await pollDueSettlements(desk.deps, 2)).toBe(true);
  const moved = (await desk.swaps()).filter(({ status }) => status === "swapping");
  expect(moved).toHaveLength(60);
  expect(await pollDueSettlements(desk.deps, 2)).toBe(false);
});

test("a settlement whose every step throws does not stop the others of its poll [T78]", async () => {
  const desk = await openDesk();
  desk.state.balance = 1_000n;
  const [broken, ...others] = await Promise.all(
    ["0x01", "0x02", "0x03"].map((userId) => desk.issue(userId)),
  );
  for (const address of [broken, ...others]) {
    if (address) await desk.arrive(address, { amount: 1_000n, block: 5n });
  }
  const routes = createRouteBook([
    {
      ...desk.route,
      async prepareSweep(address, ...rest) {
        if (address.wallet === broken?.wallet) throw new TypeError("a mistake of ours");
        return desk.route.prepareSweep(address, ...rest);
      },
    },
  ]);
  desk.clock.advance(900_000);
  await pollDueSettlements({ ...desk.deps, routes }, 2);
  const rows = await desk.db.selectFrom("settlements").select(["wallet", "status"]).execute();
  const statusOf = new Map(rows.map(({ wallet, status }) => [wallet, status]));
  expect(statusOf.get(broken?.wallet ?? "")).toBe("failed_swap");
  expect(others.map(({ wallet }) => statusOf.get(wallet))).toEqual(["swapping", "swapping"]);
});

describe("the first poll of a process", () => {
  async function openLeased() {
    const desk = await openDesk();
    desk.state.balance = 1_000n;
    await desk.arrive(await desk.issue("0x01"), { amount: 1_000n, block: 5n });
    const nowMs = desk.clock.now();
    const taken = { chainId: 2, nowMs, leaseMs: LEASE_MS.settlement, limit: 1 };
    expect(await dueSettlements.lease(desk.db, taken)).toHaveLength(1);
    desk.clock.advance(1_000);
    return desk;
  }
  const statusesOf = async (desk: Desk) => (await desk.swaps()).map(({ status }) => status);

  test("takes up the settlements that an ended process had leased [T173]", async () => {
    const desk = await openLeased();
    await pollDueSettlements(desk.deps, 2);
    expect(await statusesOf(desk)).toEqual(["pending_swap"]);
    const poll = createSettlementsPoll(desk.deps, 2);
    await poll();
    expect(await statusesOf(desk)).toEqual(["swapping"]);
  });

  test("leaves retries, other chains and later leases as they are [T173]", async () => {
    const desk = await openLeased();
    desk.state.reserves = "inventory_too_low";
    await createSettlementsPoll(desk.deps, 30)();
    expect(await statusesOf(desk)).toEqual(["pending_swap"]);
    await createSettlementsPoll(desk.deps, 2)();
    expect(await desk.swaps()).toMatchObject([{ status: "failed_swap", retryCount: 1 }]);
    const prepared = desk.state.prepared.length;
    await createSettlementsPoll(desk.deps, 2)();
    expect(desk.state.prepared).toHaveLength(prepared);
    expect(await desk.swaps()).toMatchObject([{ status: "failed_swap", retryCount: 1 }]);
  });

  test("is the only one that does [T62]", async () => {
    const desk = await openDesk();
    const poll = createSettlementsPoll(desk.deps, 2);
    await poll();
    desk.state.balance = 1_000n;
    await desk.arrive(await desk.issue("0x01"), { amount: 1_000n, block: 5n });
    const taken = { chainId: 2, nowMs: desk.clock.now(), leaseMs: 30_000, limit: 1 };
    await dueSettlements.lease(desk.db, taken);
    desk.clock.advance(1_000);
    await poll();
    expect(await statusesOf(desk)).toEqual(["pending_swap"]);
  });
});
