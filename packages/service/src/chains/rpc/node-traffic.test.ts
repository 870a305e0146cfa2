/** Limits of one node: rates, budgets and back-off, in a virtual time that only the waiting requests advance. */
import { afterEach, describe, expect, test } from "vitest";
import type { Clock } from "../../core/ports.ts";
import { createCountingRandom } from "../../../test/support/doubles.ts";
import { echo, type HttpNode, type Reply, startHttpNode } from "../../../test/rpc/http-node.ts";
import { createBackOff } from "./back-off.ts";
import { createDayBudget, type DayCount } from "./day-budget.ts";
import { createNodeTraffic, type NodeTrafficOptions } from "./node-traffic.ts";
import { createRequestWindow } from "./request-window.ts";
import { createRpc, type NodeAnswer } from "./rpc.ts";
import { comeFirst, type Exchange, type NodeTraffic, useReserve } from "./traffic.ts";

const START_MS = Date.parse("2026-03-01T12:00:00Z");
const DAY_MS = 86_400_000;

/** A clock that moves to the end of the earliest sleep whenever everything waits. */
function createVirtualClock() {
  let nowMs = START_MS;
  const sleeps = new Set<{ readonly atMs: number; wake(): void }>();
  const clock: Clock & { advance(ms: number): void } = {
    now: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
    sleep(ms, signal) {
      return new Promise((resolve) => {
        const sleep = { atMs: nowMs + ms, wake: end };
        function end() {
          sleeps.delete(sleep);
          resolve();
        }
        sleeps.add(sleep);
        signal?.addEventListener("abort", end);
        setTimeout(() => {
          const [first] = [...sleeps].toSorted((one, other) => one.atMs - other.atMs);
          if (first !== sleep) return setTimeout(end, 5);
          nowMs = Math.max(nowMs, sleep.atMs);
          return end();
        }, 1);
      });
    },
  };
  return clock;
}

/** Returns numbers from 0 to 1, the same for a seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

function createTraffic(options: Partial<NodeTrafficOptions> = {}) {
  const clock = createVirtualClock();
  const exchanges: Exchange[] = [];
  const observe = (exchange: Exchange) => void exchanges.push(exchange);
  const random = createCountingRandom();
  const traffic = createNodeTraffic({ clock, random, observe, ...options });
  const enter = (count = 1, waitMs = 5_000) => traffic.enter(count, clock.now() + waitMs);
  return { clock, traffic, enter, exchanges };
}

const limited = (retryAfter: string | null = null) => ({ retryAfter });

describe("requests per second", () => {
  test("are at most the limit in every second, wherever it begins", () => {
    const window = createRequestWindow(() => 5);
    const sentMs: number[] = [];
    let nowMs = 0;
    for (const count of [3, 2, 1, 4, 5, 1, 1, 1, 3, 2]) {
      nowMs = window.freeAt(count, nowMs + 37);
      window.take(count, nowMs);
      sentMs.push(...Array.from({ length: count }, () => nowMs));
    }
    for (const fromMs of sentMs) {
      const inSecond = sentMs.filter((atMs) => atMs >= fromMs && atMs < fromMs + 1_000);
      expect(inSecond.length).toBeLessThanOrEqual(5);
    }
    // Nor does a request wait longer than it must.
    expect(nowMs).toBeLessThanOrEqual(5_250);
  });

  test("wait for their turn in order", async () => {
    const { clock, enter } = createTraffic({ requestsPerSecond: 2 });
    const order: number[] = [];
    const startedMs = await Promise.all(
      [0, 1, 2, 3, 4].map(async (index) => {
        const turn = await enter();
        order.push(index);
        turn.end(null);
        return clock.now() - START_MS;
      }),
    );
    expect(order).toEqual([0, 1, 2, 3, 4]);
    expect(startedMs).toEqual([0, 0, 1_050, 1_050, 2_100]);
  });

  test("of the scanner come first, in three of four turns while others wait", async () => {
    const { clock, traffic } = createTraffic({ requestsPerSecond: 1 });
    const scanner = comeFirst(traffic);
    const order: string[] = [];
    const enterAs = async (name: string, { enter }: NodeTraffic) => {
      const turn = await enter(1, clock.now() + 60_000);
      order.push(name);
      turn.end(null);
    };
    await Promise.all([
      ...["a", "b", "c"].map((name) => enterAs(name, traffic)),
      ...["1", "2", "3", "4", "5"].map((name) => enterAs(name, scanner)),
    ]);
    expect(order.join("")).toBe("a123b45c");
  });

  test("count each request of a batch", async () => {
    const { clock, enter } = createTraffic({ requestsPerSecond: 10 });
    (await enter(10)).end(null);
    (await enter(1)).end(null);
    expect(clock.now() - START_MS).toBe(1_050);
  });

  test("are refused when their turn would come after their deadline", async () => {
    const { enter } = createTraffic({ requestsPerSecond: 1 });
    const turns = await Promise.allSettled(Array.from({ length: 8 }, () => enter(1, 3_500)));
    expect(turns.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 4 }, () => "fulfilled"),
      ...Array.from({ length: 4 }, () => "rejected"),
    ]);
    expect(turns.at(-1)).toMatchObject({ reason: { reason: "too many requests waiting" } });
  });
});

describe("back-off", () => {
  function open() {
    const clock = createVirtualClock();
    const backOff = createBackOff({ clock, random: createCountingRandom() });
    /** Refuses a request that is sent now, and returns the milliseconds until the next one. */
    const refuse = (retryAfter: string | null = null) => {
      backOff.refused({ retryAfter, sentMs: clock.now(), isAtAnyRate: false });
      return backOff.untilMs - clock.now();
    };
    return { clock, backOff, refuse };
  }

  test("waits as long as the node asks, in seconds or until a date", () => {
    for (const asked of ["7", new Date(START_MS + 7_000).toUTCString()]) {
      const wait = open().refuse(asked);
      expect(wait).toBeGreaterThanOrEqual(7_000);
      expect(wait).toBeLessThan(7_300);
    }
  });

  test("waits at most a quarter of an hour, whatever the node asks", () => {
    expect(open().refuse("86400")).toBeLessThan(15 * 60_000 + 300);
  });

  test("waits at least a moment, whatever the node asks", () => {
    for (const asked of [null, "0", "soon", "-5", new Date(0).toUTCString()]) {
      const wait = open().refuse(asked);
      expect(wait).toBeGreaterThanOrEqual(250);
      expect(wait).toBeLessThanOrEqual(500);
    }
  });

  test("does not double while some of the requests sent together are answered [T198]", () => {
    const { clock, backOff, refuse } = open();
    for (let index = 0; index < 10; index++) {
      const sentMs = clock.now();
      // The refusal comes first, as those of a proxy in front of the node do.
      const wait = refuse();
      expect(wait).toBeLessThanOrEqual(500);
      backOff.answered(sentMs);
      clock.advance(wait);
    }
  });

  test("is short for a node that refuses requests at any rate, until it refuses all of them [T198]", () => {
    const { clock, backOff } = open();
    const waits = Array.from({ length: 6 }, () => {
      backOff.refused({ retryAfter: null, sentMs: clock.now(), isAtAnyRate: true });
      const wait = backOff.untilMs - clock.now();
      clock.advance(wait);
      return wait;
    });
    expect(waits[0]).toBeLessThanOrEqual(100);
    expect(waits.at(-1)).toBeGreaterThanOrEqual(8_000);
  });

  test("doubles with each refusal and ends with an answer", () => {
    const { clock, backOff, refuse } = open();
    for (let index = 0; index < 10; index++) {
      const longest = Math.min(500 * 2 ** index, 60_000);
      const wait = refuse();
      expect(wait).toBeGreaterThanOrEqual(longest / 2);
      expect(wait).toBeLessThanOrEqual(longest);
      clock.advance(wait);
    }
    backOff.answered(clock.now());
    expect(refuse()).toBeLessThanOrEqual(500);
  });

  test("counts the refusals of requests that were open together as one", () => {
    const { clock, backOff } = open();
    const sentMs = clock.now();
    const refusal = { retryAfter: null, sentMs, isAtAnyRate: false };
    const isFirst = Array.from({ length: 8 }, () => backOff.refused(refusal));
    expect(isFirst).toEqual([true, ...Array.from({ length: 7 }, () => false)]);
    expect(backOff.untilMs - clock.now()).toBeLessThanOrEqual(500);
  });

  test("refuses requests that cannot wait that long at once, also waiting ones", async () => {
    const { clock, enter } = createTraffic();
    const open = await Promise.all(Array.from({ length: 32 }, () => enter()));
    const waiting = enter(1, 1_000).catch((error: unknown) => error);
    open[0]?.end(limited("60"));
    expect(await waiting).toMatchObject({ reason: "rate limited" });
    const startMs = clock.now();
    await expect(enter(1, 5_000)).rejects.toMatchObject({ reason: "rate limited" });
    expect(clock.now()).toBe(startMs);
  });
});

describe("a rate that is not configured", () => {
  /** A node that accepts some requests in each second of the clock, as a bucket that refills evenly. */
  async function sendFor(seconds: number, perSecond: number) {
    const { clock, enter } = createTraffic();
    const started = clock.now();
    let tokens = perSecond;
    let filledMs = started;
    const log: { readonly atMs: number; readonly isRefused: boolean }[] = [];
    while (clock.now() - started < seconds * 1_000) {
      const turn = await enter(1).catch(() => null);
      clock.advance(5);
      if (!turn) continue;
      tokens = Math.min(perSecond, tokens + ((clock.now() - filledMs) / 1_000) * perSecond);
      filledMs = clock.now();
      const isRefused = tokens < 1;
      if (!isRefused) tokens -= 1;
      turn.end(isRefused ? limited() : null);
      log.push({ atMs: clock.now() - started, isRefused });
    }
    return log.filter(({ atMs }) => atMs > (seconds * 1_000) / 2);
  }

  test("is learned from refusals, so that few follow and most of it is used", async () => {
    const log = await sendFor(60, 25);
    const refused = log.filter(({ isRefused }) => isRefused).length;
    expect(refused / log.length).toBeLessThan(0.05);
    expect((log.length - refused) / 30).toBeGreaterThan(15);
  });

  test("is not lowered to the least by refusals that come at any rate [T145]", async () => {
    const { clock, enter } = createTraffic();
    const random = createRandom(7);
    const log: number[] = [];
    // Work comes in bursts of different sizes, as polls do.
    while (clock.now() - START_MS < 300_000) {
      const size = 1 + Math.floor(random() * 24);
      await Promise.all(
        Array.from({ length: size }, async () => {
          const turn = await enter(1, 30_000).catch(() => null);
          const isRefused = random() < 0.1;
          turn?.end(isRefused ? limited() : null);
          if (turn && !isRefused) log.push(clock.now() - START_MS);
        }),
      );
      clock.advance(300);
    }
    const later = log.filter((atMs) => atMs > 60_000);
    expect(later.length / 240).toBeGreaterThan(25);
  });

  test("has no limit as long as the node refuses nothing", async () => {
    const { clock, traffic, enter } = createTraffic();
    for (let index = 0; index < 5_000; index++) (await enter()).end(null);
    expect(clock.now()).toBe(START_MS);
    expect(traffic.batchMax).toBe(Infinity);
  });
});

describe("a daily budget", () => {
  /** The count that all processes share. */
  function createCount(): DayCount & { readonly used: Map<number, number>; reservations: number } {
    const used = new Map<number, number>();
    return {
      used,
      reservations: 0,
      async reserve({ day, count, max }) {
        this.reservations += 1;
        const sum = (used.get(day) ?? 0) + count;
        if (sum > max) return null;
        used.set(day, sum);
        return sum;
      },
    };
  }

  function open(counted: DayCount, requestsPerDay: number, clock = createVirtualClock()) {
    const shares: number[] = [];
    const onUsed = (share: number) => void shares.push(share);
    const dayBudget = createDayBudget({ clock, requestsPerDay, counted, onUsed });
    return { clock, shares, dayBudget };
  }

  async function spend(
    budget: ReturnType<typeof createDayBudget>,
    times: number,
    mayUseReserve = false,
  ) {
    let taken = 0;
    for (let index = 0; index < times; index++) if (await budget.take(1, mayUseReserve)) taken += 1;
    return taken;
  }

  test("is never exceeded, by any number of processes that start again", async () => {
    const counted = createCount();
    let taken = 0;
    for (let start = 0; start < 30; start++) {
      taken += await spend(open(counted, 1_000).dayBudget, 50, start % 2 === 0);
    }
    expect(taken).toBeLessThanOrEqual(1_000);
    // A restart costs at most a hundredth of the day.
    expect(taken).toBeGreaterThan(650);
    expect([...counted.used.values()]).toEqual([1_000]);
  });

  test("keeps its last twentieth for claims and returns [T199]", async () => {
    const counted = createCount();
    const { dayBudget } = open(counted, 1_000);
    expect(await spend(dayBudget, 2_000)).toBe(950);
    // Also in a process that has sent nothing else.
    expect(await spend(open(counted, 1_000).dayBudget, 10)).toBe(0);
    expect(await spend(open(counted, 1_000).dayBudget, 10, true)).toBe(10);
    expect(await spend(dayBudget, 10)).toBe(0);
    expect(await spend(dayBudget, 2_000, true)).toBe(40);
    expect([...counted.used.values()]).toEqual([1_000]);
  });

  test("lets the requests of claims and returns through when other work has used it up [T199]", async () => {
    const { clock, traffic } = createTraffic({ dayBudget: open(createCount(), 100).dayBudget });
    const enter = ({ enter: begin }: NodeTraffic) => begin(1, clock.now());
    for (let index = 0; index < 95; index++) (await enter(traffic)).end(null);
    await expect(enter(traffic)).rejects.toMatchObject({ reason: "daily budget used up" });
    await expect(enter(comeFirst(traffic))).rejects.toMatchObject({
      reason: "daily budget used up",
    });
    for (let index = 0; index < 5; index++) (await enter(useReserve(traffic))).end(null);
    await expect(enter(useReserve(traffic))).rejects.toMatchObject({
      reason: "daily budget used up",
    });
  });

  test("is used up to the last request, and asks for few reservations", async () => {
    const counted = createCount();
    const { dayBudget, shares } = open(counted, 1_005);
    expect(await spend(dayBudget, 2_000)).toBe(955);
    expect(await spend(dayBudget, 2_000, true)).toBe(50);
    expect(counted.reservations).toBeLessThan(115);
    expect(shares.at(-1)).toBe(1);
    expect(shares[0]).toBeCloseTo(0.01, 2);
  });

  test("counts each request of a batch, and requests that ask together", async () => {
    const { dayBudget } = open(createCount(), 105);
    const taken = await Promise.all(Array.from({ length: 20 }, () => dayBudget.take(7)));
    expect(taken.filter(Boolean)).toHaveLength(14);
  });

  test("begins again with the day in UTC", async () => {
    const { clock, dayBudget } = open(createCount(), 10);
    expect(await spend(dayBudget, 20)).toBe(10);
    clock.advance(DAY_MS / 2 - 1);
    expect(await dayBudget.take(1)).toBe(false);
    clock.advance(1);
    expect(await spend(dayBudget, 20)).toBe(10);
  });

  test("refuses requests, and gets back those that were not sent", async () => {
    const counted = createCount();
    const { dayBudget } = open(counted, 3);
    const { enter } = createTraffic({ dayBudget, requestsPerSecond: 1 });
    const first = await Promise.allSettled([enter(1, 0), enter(1, 0), enter(1, 0)]);
    expect(first.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
    await expect(enter()).resolves.toBeDefined();
    await expect(enter()).resolves.toBeDefined();
    await expect(enter()).rejects.toMatchObject({ reason: "daily budget used up" });
  });
});

describe("a client with limits", () => {
  const nodes: HttpNode[] = [];
  afterEach(async () => {
    await Promise.all(nodes.splice(0).map((node) => node.stop()));
  });

  async function open(answer: Parameters<typeof startHttpNode>[0], given = {}) {
    const node = await startHttpNode(answer);
    nodes.push(node);
    const { traffic, clock, exchanges } = createTraffic(given);
    const rpc = createRpc({ chainId: 2, rpcUrl: node.url, timeoutMs: 2_000, traffic });
    return { node, rpc, clock, exchanges };
  }

  const busy: Reply = { status: 429, headers: { "retry-after": "2" }, body: "slow down" };

  test("sends a request again after a refusal for the rate", async () => {
    let refusals = 2;
    const { node, rpc, clock } = await open((received) => (refusals-- > 0 ? busy : echo(received)));
    expect(await rpc.call("m", [1])).toEqual({ ok: true, result: ["m", 1] });
    expect(node.received).toHaveLength(3);
    expect(clock.now() - START_MS).toBeGreaterThanOrEqual(4_000);
  });

  test("sends a request again after a dropped connection or an error in front of the node [T145]", async () => {
    const failures: Reply[] = [
      { closes: true, body: "" },
      { status: 502, body: "<html>" },
      { status: 503, body: "busy" },
    ];
    const { node, rpc } = await open((received) => failures.shift() ?? echo(received));
    expect(await rpc.call("m", [1])).toEqual({ ok: true, result: ["m", 1] });
    expect(node.received).toHaveLength(4);
  });

  test("asks twice at the same time while servers lack the block, as most of them do [T198]", async () => {
    const node = await startHttpNode(({ requests: [sent] }) => ({
      body: { jsonrpc: "2.0", id: sent?.id, result: node.received.length < 8 ? "behind" : "here" },
    }));
    nodes.push(node);
    const { traffic } = createTraffic();
    const isBehind = (_: unknown, answer: NodeAnswer) => answer.ok && answer.result === "behind";
    const rpc = createRpc({ chainId: 2, rpcUrl: node.url, timeoutMs: 2_000, traffic, isBehind });
    expect(await rpc.call("m", [])).toEqual({ ok: true, result: "here" });
    expect(node.received).toHaveLength(9);
  });

  test("sends a request four times at most, and one that is refused for good once", async () => {
    const { node, rpc } = await open(({ requests: [sent] }) => ({
      status: sent?.method === "down" ? 502 : 401,
      body: "<html>",
    }));
    await expect(rpc.call("down", [])).rejects.toMatchObject({ details: { reason: "http 502" } });
    expect(node.received).toHaveLength(4);
    await expect(rpc.call("m", [])).rejects.toMatchObject({ details: { reason: "http 401" } });
    expect(node.received).toHaveLength(5);
  });

  test("gives up when the refusals go on, and sends nothing more meanwhile", async () => {
    const { node, rpc } = await open(() => ({ ...busy, headers: { "retry-after": "30" } }));
    const unavailable = { code: "RPC_UNAVAILABLE", details: { reason: "rate limited" } };
    await expect(rpc.call("m", [])).rejects.toMatchObject(unavailable);
    await expect(rpc.call("m", [])).rejects.toMatchObject(unavailable);
    await expect(rpc.batch([{ method: "m", params: [] }])).rejects.toMatchObject(unavailable);
    expect(node.received).toHaveLength(1);
  });

  test("asks again only for the refused requests of a batch", async () => {
    let isBusy = true;
    const { node, rpc } = await open((received) => {
      if (!isBusy) return echo(received);
      isBusy = false;
      const message = "Your app has exceeded its compute units per second capacity.";
      const body = received.requests.map(({ id, params: [index] }) =>
        Number(index) < 3
          ? { jsonrpc: "2.0", id, result: ["m", index] }
          : { jsonrpc: "2.0", id, error: { code: 429, message } },
      );
      return { body };
    });
    const requests = [0, 1, 2, 3, 4].map((index) => ({ method: "m", params: [index] }));
    const answers = await rpc.batch(requests);
    expect(answers).toEqual(
      requests.map(({ params: [index] }) => ({ ok: true, result: ["m", index] })),
    );
    expect(node.received.map(({ requests: sent }) => sent.length)).toEqual([5, 1, 1]);
  });

  test("cuts batches so that they fill a second", async () => {
    const { node, rpc, clock } = await open(echo, { requestsPerSecond: 40 });
    await rpc.batch(Array.from({ length: 85 }, () => ({ method: "m", params: [] })));
    expect(new Set(node.received.map(({ requests }) => requests.length))).toEqual(new Set([10, 5]));
    expect(clock.now() - START_MS).toBe(2_100);
  });

  test("reports each request with its outcome, its time and its bytes", async () => {
    const { rpc, exchanges } = await open(({ requests: [sent], ...received }) => {
      if (sent?.method === "html") return { status: 404, body: "<html>" };
      if (sent?.method === "wrong") return { body: { jsonrpc: "2.0", id: sent.id } };
      if (sent?.method === "error") {
        return { body: { jsonrpc: "2.0", id: sent.id, error: { code: 3, message: "reverted" } } };
      }
      return echo({ ...received, requests: sent ? [sent] : [] });
    });
    for (const method of ["fine", "error", "html", "wrong"])
      await rpc.call(method, []).catch(() => null);
    expect(exchanges.map(({ requests }) => requests)).toEqual([
      [{ method: "fine", outcome: "ok" }],
      [{ method: "error", outcome: "node_error" }],
      [{ method: "html", outcome: "http_error" }],
      [{ method: "wrong", outcome: "malformed" }],
    ]);
    expect(
      exchanges.every(({ bytesSent, bytesReceived }) => bytesSent > 40 && bytesReceived > 0),
    ).toBe(true);
  });
});
