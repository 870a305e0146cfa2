/** Polls of due settlements, against real PostgreSQL. */
import { describe, expect, test } from "vitest";
import { type Desk, openDesk } from "../../test/support/settlement-desk.ts";
import { createRouteBook, type Route } from "../routes/index.ts";
import { createSettlementsPoll } from "./advance.ts";

test("two processes that poll the same settlements sweep each once [T62]", async () => {
  const desk = await openDesk();
  for (const user of ["0x01", "0x02", "0x03"]) {
    desk.state.balance = 1_000n;
    await desk.arrive(await desk.issue(user), { amount: 1_000n, block: 5n });
  }
  const poll = () => createSettlementsPoll(desk.deps, 2)();
  await Promise.all([poll(), poll()]);
  const swaps = await desk.swaps();
  expect(swaps.map(({ status }) => status)).toEqual(["swapping", "swapping", "swapping"]);
  const intents = await desk.db.selectFrom("transactions").select("intent").execute();
  const expected = swaps.map(({ id }) => `sweep:${id}:1`);
  expect(intents.map(({ intent }) => intent).toSorted()).toEqual(expected.toSorted());
});

test("a poll takes at most 60 of the settlements that became due in an outage [T77]", async () => {
  const desk = await openDesk();
  desk.state.balance = 1_000n;
  for (let user = 16; user < 77; user++) {
    const address = await desk.issue(`0x${user.toString(16)}`);
    await desk.arrive(address, { amount: 1_000n, block: 5n });
  }
  expect(await createSettlementsPoll(desk.deps, 2)()).toBe(true);
  const moved = (await desk.swaps()).filter(({ status }) => status === "swapping");
  expect(moved).toHaveLength(60);
  expect(await createSettlementsPoll(desk.deps, 2)()).toBe(false);
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
  await createSettlementsPoll({ ...desk.deps, routes }, 2)();
  const rows = await desk.db.selectFrom("settlements").select(["wallet", "status"]).execute();
  const statusOf = new Map(rows.map(({ wallet, status }) => [wallet, status]));
  expect(statusOf.get(broken?.wallet ?? "")).toBe("failed_swap");
  expect(others.map(({ wallet }) => statusOf.get(wallet))).toEqual(["swapping", "swapping"]);
});

describe("a settlement whose process ended during its poll", () => {
  async function openEnded() {
    const desk = await openDesk();
    desk.state.balance = 1_000n;
    await desk.arrive(await desk.issue("0x01"), { amount: 1_000n, block: 5n });
    const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
    const route: Route = {
      ...desk.route,
      prepareSweep() {
        reach();
        return new Promise(() => {});
      },
    };
    const ended = { ...desk.deps, routes: createRouteBook([route]) };
    void createSettlementsPoll(ended, 2)();
    await reached;
    return desk;
  }
  const statusesOf = async (desk: Desk) => (await desk.swaps()).map(({ status }) => status);

  test("is polled at once by the process that takes over the chain [T173]", async () => {
    const desk = await openEnded();
    await createSettlementsPoll(desk.deps, 30)();
    expect(await statusesOf(desk)).toEqual(["pending_swap"]);
    await createSettlementsPoll(desk.deps, 2)();
    expect(await statusesOf(desk)).toEqual(["swapping"]);
  });

  test("waits for its retry as after any failure [T173]", async () => {
    const desk = await openEnded();
    desk.state.reserves = "inventory_too_low";
    await createSettlementsPoll(desk.deps, 2)();
    expect(await desk.swaps()).toMatchObject([{ status: "failed_swap", retryCount: 1 }]);
    const prepared = desk.state.prepared.length;
    await createSettlementsPoll(desk.deps, 2)();
    expect(desk.state.prepared).toHaveLength(prepared);
    expect(await desk.swaps()).toMatchObject([{ status: "failed_swap", retryCount: 1 }]);
  });
});

test("a sweep that delivers is polled soon for its confirmations, and less often the longer they take", async () => {
  const desk = await openDesk();
  Object.assign(desk.route, { kind: "MONO_CHAIN", deliversBySweep: true });
  desk.state.balance = 1_000n;
  await desk.arrive(await desk.issue("0x01"), { amount: 1_000n, block: 5n });
  await createSettlementsPoll(desk.deps, 2)();
  desk.state.swept = 1_000n;
  await desk.mine("sweep:");
  desk.state.delivery = { kind: "waiting" };
  const gaps: number[] = [];
  for (const waitedMs of [0, 5_000, 60_000]) {
    desk.clock.advance(waitedMs);
    await createSettlementsPoll(desk.deps, 2)();
    const [row] = await desk.db.selectFrom("settlements").select("next_check_at").execute();
    gaps.push(Date.parse(row?.next_check_at ?? "") - desk.clock.now());
  }
  expect(gaps).toEqual([500, 500, 3_250]);
});
