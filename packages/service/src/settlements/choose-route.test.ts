/** Several routes for one pair: order of preference, fallback to the next, and the route that a swept settlement keeps. */
import { describe, expect, test } from "vitest";
import { openDesk, ROUTE } from "../../test/support/settlement-desk.ts";
import type { RouteSet } from "../addresses/index.ts";
import { OperatingError } from "../core/errors.ts";
import { toEvmAddress } from "../core/hex.ts";
import { createRouteBook, type Route, withBreaker } from "../routes/index.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { createSettlementsPoll } from "./advance.ts";

const NEXT = toEvmAddress(`0x${"0f".repeat(20)}`);

/** Opens a settlement that is about to be swept, and two routes of one kind. */
async function openChoice(
  preferred: Partial<Route>,
  next: Partial<Route> = {},
  routeSet?: RouteSet,
) {
  const desk = await openDesk();
  const metrics = createMetrics();
  const address = await desk.issue("0x07", routeSet);
  desk.state.balance = 1_000n;
  await desk.arrive(address, { amount: 1_000n, block: 90n });
  const first = withBreaker(
    { ...desk.route, ...preferred },
    { clock: desk.deps.clock, log: desk.deps.log, metrics },
  );
  const deps = {
    ...desk.deps,
    routes: createRouteBook([first, { ...desk.route, contract: NEXT, ...next }]),
  };
  const poll = async () => {
    desk.clock.advance(900_000);
    await createSettlementsPoll(deps, 2)();
  };
  const row = () => desk.db.selectFrom("settlements").selectAll().executeTakeFirstOrThrow();
  const swap = async () => (await desk.swaps())[0];
  const paused = async () => (await metrics.routesPaused.get()).values;
  return { desk, deps, poll, row, swap, paused };
}

const fails = (code: "RPC_UNAVAILABLE" | "PRICE_UNAVAILABLE" | "FEE_NOT_COVERED") => async () => {
  throw new OperatingError(code, "Not now.");
};

describe("with several routes", () => {
  test("the preferred route is chosen and its contract is stored", async () => {
    const { poll, row } = await openChoice({});
    await poll();
    expect(await row()).toMatchObject({
      status: "swapping",
      route: "SWIFT",
      route_contract: ROUTE,
    });
  });

  test.each<[string, Partial<Route>]>([
    ["has too little inventory", { reserve: async () => "inventory_too_low" }],
    ["has no price", { quote: fails("PRICE_UNAVAILABLE") }],
    ["does not answer", { prepareSweep: fails("RPC_UNAVAILABLE") }],
    ["would cost too much", { prepareSweep: fails("FEE_NOT_COVERED") }],
    [
      "promises an amount of zero",
      { quote: async () => ({ fair: 1_000n, amountOut: 0n, minOut: 0n }) },
    ],
  ])("the next route is chosen at once when the preferred one %s", async (_, preferred) => {
    const { poll, row, desk } = await openChoice(preferred);
    await poll();
    expect(await row()).toMatchObject({ status: "swapping", route_contract: NEXT, retry_count: 0 });
    const sent = await desk.db.selectFrom("transactions").select("intent").execute();
    expect(sent).toHaveLength(1);
  });

  test("the settlement waits and shows the preferred route's error when no route can settle it", async () => {
    const { poll, row, swap } = await openChoice(
      { reserve: async () => "inventory_too_low" },
      { quote: fails("PRICE_UNAVAILABLE") },
    );
    await poll();
    expect(await swap()).toMatchObject({
      status: "failed_swap",
      error: { code: "INSUFFICIENT_BALANCE" },
    });
    expect((await row()).attempts_used).toBe(0);
  });

  test("an unexpected exception in the preferred route is not skipped", async () => {
    const { poll, swap } = await openChoice({
      quote: async () => {
        throw new TypeError("a mistake of ours");
      },
    });
    await poll();
    expect(await swap()).toMatchObject({ status: "failed_swap", error: { code: "INTERNAL" } });
  });

  test("a route that keeps failing is paused for a while, and the metric shows the pause", async () => {
    let asked = 0;
    let isBack = false;
    const { desk, deps, row, paused } = await openChoice({
      quote: async (amount) => {
        asked += 1;
        if (isBack) return { fair: amount, amountOut: amount, minOut: amount };
        throw new OperatingError("RPC_UNAVAILABLE", "No answer.");
      },
    });
    const labels = { chain: "ethereum", kind: "SWIFT" };
    expect(await paused()).toEqual([{ labels, value: 0 }]);
    const [route] = deps.routes.list(desk.route.pair);
    for (let i = 0; i < 20; i++) {
      await route
        ?.quote(1n, { maxFeeBps: 50, maxSlippageBps: 100 }, { bps: 0, flat: 0n, bridge: 0n })
        .catch(() => undefined);
    }
    expect(asked).toBe(5);
    await createSettlementsPoll(deps, 2)();
    expect(asked).toBe(5);
    expect(await row()).toMatchObject({ status: "swapping", route_contract: NEXT });
    expect(await paused()).toEqual([{ labels, value: 1 }]);
    isBack = true;
    desk.clock.advance(30_000);
    await route?.quote(
      1n,
      { maxFeeBps: 50, maxSlippageBps: 100 },
      { bps: 0, flat: 0n, bridge: 0n },
    );
    expect(await paused()).toEqual([{ labels, value: 0 }]);
  });

  test("a route to which the address does not commit is passed over", async () => {
    const { poll, row } = await openChoice({}, {}, [{ chainId: 2, evmChainId: 1, route: NEXT }]);
    await poll();
    expect(await row()).toMatchObject({ status: "swapping", route_contract: NEXT });
  });

  test("the deposit waits, refundable, when its address commits to no enabled route", async () => {
    const elsewhere = [{ chainId: 30, evmChainId: 8453, route: ROUTE }];
    const { desk, poll, row, swap } = await openChoice({}, {}, elsewhere);
    await poll();
    expect(await swap()).toMatchObject({
      status: "failed_swap",
      error: { code: "NO_ROUTE", details: { reason: "route_not_committed" } },
    });
    expect(await row()).toMatchObject({ attempts_used: 0 });
    expect(await desk.db.selectFrom("transactions").selectAll().execute()).toEqual([]);
  });

  test("a swept settlement keeps its route when another becomes preferred", async () => {
    const { desk, deps, poll, row } = await openChoice({
      reserve: async () => "daily_cap_reached",
    });
    await poll();
    desk.state.swept = 1_000n;
    await desk.mine("sweep");
    const asked: string[] = [];
    const watched = (route: Route): Route => ({
      ...route,
      readSweep: (...args) => {
        asked.push(route.contract);
        return route.readSweep(...args);
      },
    });
    const both = deps.routes.list(desk.route.pair).map(watched);
    desk.clock.advance(900_000);
    await createSettlementsPoll({ ...deps, routes: createRouteBook(both) }, 2)();
    expect(asked).toEqual([NEXT]);
    expect((await row()).swept_amount).toBe("1000");
  });

  test("a swept settlement waits for its route when that route is no longer configured", async () => {
    const { desk, deps, poll, row } = await openChoice({
      reserve: async () => "daily_cap_reached",
    });
    await poll();
    desk.state.swept = 1_000n;
    await desk.mine("sweep");
    desk.clock.advance(900_000);
    await createSettlementsPoll({ ...deps, routes: createRouteBook([desk.route]) }, 2)();
    expect(await row()).toMatchObject({ status: "swapping", swept_amount: null });
    await poll();
    expect(await row()).toMatchObject({ status: "swapping", swept_amount: "1000" });
  });
});

test("a deposit waits in its wallet without using up a try while its destination is disabled [T81]", async () => {
  const { desk, deps, poll, row, swap } = await openChoice({});
  desk.clock.advance(900_000);
  await createSettlementsPoll({ ...deps, routes: createRouteBook([]) }, 2)();
  expect(await swap()).toMatchObject({ status: "failed_swap", error: { code: "NO_ROUTE" } });
  expect(await row()).toMatchObject({ attempts_used: 0 });
  expect(await desk.db.selectFrom("transactions").selectAll().execute()).toEqual([]);
  await poll();
  expect(await row()).toMatchObject({ status: "swapping", attempts_used: 0 });
});
