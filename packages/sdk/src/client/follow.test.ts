/** Parts of followEvents and waitForSettlement that need no service. The service's stories run both against a real one. */
import { getEventListeners } from "node:events";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { EventItem, Swap } from "../wire/index.ts";
import {
  SluiceApiError,
  SluiceGapError,
  SluiceResponseError,
  SluiceTimeoutError,
} from "./errors.ts";
import { followEvents } from "./follow.ts";
import { waitForSettlement } from "./settlement.ts";

const KEY = "0b5e0a4e-6f3c-4a53-9d7a-2f9f0a3f6c11";
const UNREACHABLE = "http://127.0.0.1:1";
const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

afterEach(() => vi.restoreAllMocks());

/** Returns a promise that never settles, like a request without a response. */
const hang = () => new Promise<never>(() => undefined);

describe("followEvents", () => {
  const event = (timestamp: string): EventItem => ({
    id: KEY,
    type: "deposit_detected",
    timestamp,
    data: { walletAddress: "0x1", chainId: 30, tokenAddress: "0x2", queued: true },
  });

  /** A client whose reads of the replay return these in order; a further read throws. */
  function createReplay(...reads: (() => AsyncGenerator<EventItem, void>)[]) {
    const requested: (string | undefined)[] = [];
    const iterateEvents = (query?: { since?: string }) => {
      requested.push(query?.since);
      const read = reads[requested.length - 1];
      if (!read) throw new Error("read more often than expected");
      return read();
    };
    return { requested, iterateEvents };
  }
  async function* yieldEvents(...events: EventItem[]) {
    yield* events;
  }
  // oxlint-disable-next-line require-yield
  async function* fail(error: unknown) {
    throw error;
  }
  /** Mocks the clock: time advances only by calls of `advance`. */
  function mockClock() {
    let now = Date.now();
    vi.spyOn(Date, "now").mockImplementation(() => now);
    return { advance: (days: number) => (now += days * DAY_MS) };
  }
  const options = { baseUrl: UNREACHABLE, apiKey: KEY, pollMs: 1 };

  test("yields events older than the retention at the start, then continues", async () => {
    const [old, later] = [event(daysAgo(33)), event(daysAgo(0))];
    const client = createReplay(
      () => yieldEvents(old),
      () => yieldEvents(later),
    );
    const events = followEvents({ ...options, client });
    expect((await events.next()).value).toBe(old);
    expect((await events.next()).value).toBe(later);
    expect(client.requested).toEqual([undefined, old.timestamp]);
    await events.return();
  });

  test("reports no gap when no event happens for longer than the retention", async () => {
    const clock = mockClock();
    const [first, last] = [event(daysAgo(0)), event(daysAgo(0))];
    const readNothing = () => {
      clock.advance(20);
      return yieldEvents();
    };
    const client = createReplay(
      () => yieldEvents(first),
      readNothing,
      readNothing,
      readNothing,
      () => yieldEvents(last),
    );
    const events = followEvents({ ...options, client });
    expect((await events.next()).value).toBe(first);
    expect((await events.next()).value).toBe(last);
    await events.return();
  });

  test("throws SluiceGapError when every read fails for longer than the retention", async () => {
    const clock = mockClock();
    const first = event(daysAgo(29));
    const failToRead = () => {
      clock.advance(11);
      return fail(new TypeError("fetch failed"));
    };
    const readAt = daysAgo(0);
    const client = createReplay(() => yieldEvents(first), failToRead, failToRead, failToRead);
    const events = followEvents({ ...options, client });
    expect((await events.next()).value).toBe(first);
    await expect(events.next()).rejects.toEqual(new SluiceGapError(readAt));
  });

  test("throws SluiceGapError when the first read broke off before the retention", async () => {
    const clock = mockClock();
    const first = event(daysAgo(29));
    const client = createReplay(async function* () {
      yield first;
      clock.advance(2);
      throw new TypeError("fetch failed");
    });
    const events = followEvents({ ...options, client });
    expect((await events.next()).value).toBe(first);
    await expect(events.next()).rejects.toEqual(new SluiceGapError(first.timestamp));
  });

  test.each(["yesterday", "2026-01-31T12:00:00", "2026-01-31 12:00:00Z", "2026-13-01T00:00:00Z"])(
    "rejects since = %s, which is not one instant",
    async (since) => {
      const events = followEvents({ ...options, client: createReplay(), since });
      await expect(events.next()).rejects.toThrow(TypeError);
    },
  );

  test.each([400, 401, 403, 404])("throws on HTTP %d, which is not retryable", async (status) => {
    const error = new SluiceResponseError("GET /events", "no error object", status);
    const events = followEvents({ ...options, client: createReplay(() => fail(error)) });
    await expect(events.next()).rejects.toBe(error);
  });

  test("continues after HTTP 502", async () => {
    const badGateway = new SluiceResponseError("GET /events", "no error object", 502);
    const errors: unknown[] = [];
    const client = createReplay(
      () => fail(badGateway),
      () => yieldEvents(event(daysAgo(0))),
    );
    const onError = (error: unknown) => errors.push(error);
    const events = followEvents({ ...options, client, onError });
    expect((await events.next()).done).toBe(false);
    expect(errors).toContain(badGateway);
    await events.return();
  });

  test("ends when the signal aborts during a pending request", async () => {
    const controller = new AbortController();
    const signals: unknown[] = [];
    const client = {
      async *iterateEvents(_query?: object, call?: { signal?: AbortSignal }) {
        signals.push(call?.signal);
        queueMicrotask(() => controller.abort());
        yield await hang();
      },
    };
    const events = followEvents({ ...options, client, signal: controller.signal });
    expect(await events.next()).toEqual({ done: true, value: undefined });
    expect(signals).toEqual([controller.signal]);
  });

  test("leaves no listener on the signal", async () => {
    const { signal } = new AbortController();
    const events = followEvents({
      ...options,
      client: createReplay(() => yieldEvents(event(daysAgo(0)))),
      signal,
    });
    await events.next();
    await events.return();
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("throws SluiceGapError when since is older than the retention", async () => {
    const client = {
      iterateEvents: () => Promise.reject(new Error("unexpected request")) as never,
    };
    const since = daysAgo(31);
    const events = followEvents({ client, baseUrl: UNREACHABLE, apiKey: KEY, since });
    await expect(events.next()).rejects.toEqual(new SluiceGapError(since));
  });

  test("ends when the signal has aborted, and throws when the key is rejected", async () => {
    const aborted = AbortSignal.abort();
    const client = {
      iterateEvents: () => Promise.reject(new Error("unexpected request")) as never,
    };
    const ended = followEvents({ client, baseUrl: UNREACHABLE, apiKey: KEY, signal: aborted });
    expect(await ended.next()).toEqual({ done: true, value: undefined });

    const error = new SluiceApiError({ code: "FORBIDDEN", message: "no", retryable: false }, 403);
    const rejected = followEvents({
      client: { iterateEvents: () => fail(error) },
      baseUrl: UNREACHABLE,
      apiKey: KEY,
    });
    await expect(rejected.next()).rejects.toBe(error);
  });
});

describe("waitForSettlement", () => {
  // CAST: the fields that waitForSettlement reads.
  const swap = (change: Partial<Swap>) =>
    ({
      id: "1",
      walletAddress: "0xAB",
      status: "swapping",
      terminal: false,
      retryCount: 0,
      ...change,
    }) as Swap;
  const createClient = (...responses: (readonly Swap[] | Error)[]) => {
    let requests = 0;
    return {
      listSwaps: async () => {
        const response = responses[Math.min(requests, responses.length - 1)] ?? [];
        requests += 1;
        if (response instanceof Error) throw response;
        return { items: [...response], nextCursor: null };
      },
    };
  };
  const options = { walletAddress: "0xab", pollMs: 1 };

  test("returns the newest settlement of the address and reports each status once", async () => {
    const client = createClient(
      [],
      [swap({ id: "2", walletAddress: "0xCD", terminal: true }), swap({})],
      new TypeError("fetch failed"),
      [swap({})],
      [swap({ status: "completed", terminal: true })],
    );
    const statuses: string[] = [];
    const onStatus = ({ status }: Swap) => statuses.push(status);
    const done = await waitForSettlement(client, { ...options, onStatus });
    expect(done.status).toBe("completed");
    expect(statuses).toEqual(["swapping", "completed"]);
  });

  test("ignores the earlier settlement named by after", async () => {
    const old = swap({ status: "completed", terminal: true });
    const client = createClient([old], [swap({ id: "2", terminal: true, status: "dead" }), old]);
    expect(await waitForSettlement(client, { ...options, after: "1" })).toMatchObject({ id: "2" });
  });

  test("throws SluiceTimeoutError at the timeout and aborts a pending request", async () => {
    let requestSignal: AbortSignal | undefined;
    const client = {
      listSwaps(_query?: object, call?: { signal?: AbortSignal }) {
        requestSignal = call?.signal;
        return hang();
      },
    };
    const waiting = waitForSettlement(client, { ...options, timeoutMs: 20 });
    await expect(waiting).rejects.toBeInstanceOf(SluiceTimeoutError);
    expect(requestSignal?.aborted).toBe(true);
  });

  test("ends when the signal aborts during a pending request, and leaves no listener on it", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const client = {
      listSwaps() {
        queueMicrotask(() => controller.abort());
        return hang();
      },
    };
    const waiting = waitForSettlement(client, { ...options, signal });
    await expect(waiting).rejects.toBeInstanceOf(SluiceTimeoutError);
    expect(getEventListeners(signal, "abort")).toEqual([]);

    const other = new AbortController();
    const done = [swap({ status: "completed", terminal: true })];
    await waitForSettlement(createClient([], [], done), { ...options, signal: other.signal });
    expect(getEventListeners(other.signal, "abort")).toEqual([]);
  });

  test("accepts an infinite timeout and one longer than a timer can hold", async () => {
    const done = [swap({ status: "completed", terminal: true })];
    const client = createClient([], [], done);
    for (const timeoutMs of [Number.POSITIVE_INFINITY, 2 ** 40]) {
      expect(await waitForSettlement(client, { ...options, timeoutMs })).toBe(done[0]);
    }
  });

  test("throws SluiceTimeoutError at the timeout, and the API error when the key is rejected", async () => {
    await expect(
      waitForSettlement(createClient([]), { ...options, timeoutMs: 20 }),
    ).rejects.toBeInstanceOf(SluiceTimeoutError);
    const error = new SluiceApiError({ code: "FORBIDDEN", message: "no", retryable: false }, 403);
    await expect(waitForSettlement(createClient(error), options)).rejects.toBe(error);
  });
});
