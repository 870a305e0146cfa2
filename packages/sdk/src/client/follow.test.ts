/** The parts of following and waiting that need no service; against a real one they are in the service's stories. */
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
const NOWHERE = "http://127.0.0.1:1";
const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

afterEach(() => vi.restoreAllMocks());

/** A promise that stays open, as a request does that nobody answers. */
const hang = () => new Promise<never>(() => undefined);

describe("following", () => {
  const event = (timestamp: string): EventItem => ({
    id: KEY,
    type: "deposit_detected",
    timestamp,
    data: { walletAddress: "0x1", chainId: 30, tokenAddress: "0x2", queued: true },
  });

  /** Each read of the replay gives the next of these; after them it is asked for too often. */
  function reading(...reads: (() => AsyncGenerator<EventItem, void>)[]) {
    const asked: (string | undefined)[] = [];
    const iterateEvents = (query?: { since?: string }) => {
      asked.push(query?.since);
      const read = reads[asked.length - 1];
      if (!read) throw new Error("read more often than expected");
      return read();
    };
    return { asked, iterateEvents };
  }
  async function* give(...events: EventItem[]) {
    yield* events;
  }
  // oxlint-disable-next-line require-yield
  async function* fail(error: unknown) {
    throw error;
  }
  /** Time goes by from one call of `pass` to the next, and not otherwise. */
  function stopClock() {
    let now = Date.now();
    vi.spyOn(Date, "now").mockImplementation(() => now);
    return { pass: (days: number) => (now += days * DAY_MS) };
  }
  const options = { baseUrl: NOWHERE, apiKey: KEY, pollMs: 1 };

  test("begins with events that are kept longer than promised, and goes on", async () => {
    const [old, later] = [event(daysAgo(33)), event(daysAgo(0))];
    const client = reading(
      () => give(old),
      () => give(later),
    );
    const events = followEvents({ ...options, client });
    expect((await events.next()).value).toBe(old);
    expect((await events.next()).value).toBe(later);
    expect(client.asked).toEqual([undefined, old.timestamp]);
    await events.return();
  });

  test("has no gap when nothing happens for longer than events are kept", async () => {
    const clock = stopClock();
    const [first, last] = [event(daysAgo(0)), event(daysAgo(0))];
    const quiet = () => {
      clock.pass(20);
      return give();
    };
    const client = reading(
      () => give(first),
      quiet,
      quiet,
      quiet,
      () => give(last),
    );
    const events = followEvents({ ...options, client });
    expect((await events.next()).value).toBe(first);
    expect((await events.next()).value).toBe(last);
    await events.return();
  });

  test("has a gap when nothing could be read for longer than events are kept", async () => {
    const clock = stopClock();
    const first = event(daysAgo(29));
    const away = () => {
      clock.pass(11);
      return fail(new TypeError("fetch failed"));
    };
    const readAt = daysAgo(0);
    const client = reading(() => give(first), away, away, away);
    const events = followEvents({ ...options, client });
    expect((await events.next()).value).toBe(first);
    await expect(events.next()).rejects.toEqual(new SluiceGapError(readAt));
  });

  test("has a gap when the first read broke off too long ago", async () => {
    const clock = stopClock();
    const first = event(daysAgo(29));
    const client = reading(async function* () {
      yield first;
      clock.pass(2);
      throw new TypeError("fetch failed");
    });
    const events = followEvents({ ...options, client });
    expect((await events.next()).value).toBe(first);
    await expect(events.next()).rejects.toEqual(new SluiceGapError(first.timestamp));
  });

  test.each(["yesterday", "2026-01-31T12:00:00", "2026-01-31 12:00:00Z", "2026-13-01T00:00:00Z"])(
    "from %s, which is no one instant, is refused",
    async (since) => {
      const events = followEvents({ ...options, client: reading(), since });
      await expect(events.next()).rejects.toThrow(TypeError);
    },
  );

  test.each([400, 401, 403, 404])("ends with HTTP %d, which stays as it is", async (status) => {
    const wrong = new SluiceResponseError("GET /events", "no error object", status);
    const events = followEvents({ ...options, client: reading(() => fail(wrong)) });
    await expect(events.next()).rejects.toBe(wrong);
  });

  test("goes on after HTTP 502", async () => {
    const gone = new SluiceResponseError("GET /events", "no error object", 502);
    const errors: unknown[] = [];
    const client = reading(
      () => fail(gone),
      () => give(event(daysAgo(0))),
    );
    const onError = (error: unknown) => errors.push(error);
    const events = followEvents({ ...options, client, onError });
    expect((await events.next()).done).toBe(false);
    expect(errors).toContain(gone);
    await events.return();
  });

  test("ends with the signal also while an answer does not come", async () => {
    const aborting = new AbortController();
    const signals: unknown[] = [];
    const client = {
      async *iterateEvents(_query?: object, call?: { signal?: AbortSignal }) {
        signals.push(call?.signal);
        queueMicrotask(() => aborting.abort());
        yield await hang();
      },
    };
    const events = followEvents({ ...options, client, signal: aborting.signal });
    expect(await events.next()).toEqual({ done: true, value: undefined });
    expect(signals).toEqual([aborting.signal]);
  });

  test("leaves nothing at the signal", async () => {
    const { signal } = new AbortController();
    const events = followEvents({
      ...options,
      client: reading(() => give(event(daysAgo(0)))),
      signal,
    });
    await events.next();
    await events.return();
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("from before events are kept is refused: some may be gone", async () => {
    const client = { iterateEvents: () => Promise.reject(new Error("not asked for")) as never };
    const since = daysAgo(31);
    const events = followEvents({ client, baseUrl: NOWHERE, apiKey: KEY, since });
    await expect(events.next()).rejects.toEqual(new SluiceGapError(since));
  });

  test("ends with the signal, and with a key that is refused", async () => {
    const aborted = AbortSignal.abort();
    const client = { iterateEvents: () => Promise.reject(new Error("not asked for")) as never };
    const ended = followEvents({ client, baseUrl: NOWHERE, apiKey: KEY, signal: aborted });
    expect(await ended.next()).toEqual({ done: true, value: undefined });

    const refusal = new SluiceApiError({ code: "FORBIDDEN", message: "no", retryable: false }, 403);
    // oxlint-disable-next-line require-yield
    async function* refuse() {
      throw refusal;
    }
    const refused = followEvents({
      client: { iterateEvents: refuse },
      baseUrl: NOWHERE,
      apiKey: KEY,
    });
    await expect(refused.next()).rejects.toBe(refusal);
  });
});

describe("waiting", () => {
  // CAST: what waiting looks at.
  const swap = (change: Partial<Swap>) =>
    ({
      id: "1",
      walletAddress: "0xAB",
      status: "swapping",
      terminal: false,
      retryCount: 0,
      ...change,
    }) as Swap;
  const answering = (...answers: (readonly Swap[] | Error)[]) => {
    let asked = 0;
    return {
      asked: () => asked,
      listSwaps: async () => {
        const answer = answers[Math.min(asked, answers.length - 1)] ?? [];
        asked += 1;
        if (answer instanceof Error) throw answer;
        return { items: [...answer], nextCursor: null };
      },
    };
  };
  const options = { walletAddress: "0xab", pollMs: 1 };

  test("ends with the newest settlement of the address, and tells each status once", async () => {
    const client = answering(
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

  test("does not take an earlier one for the one that is waited for", async () => {
    const old = swap({ status: "completed", terminal: true });
    const client = answering([old], [swap({ id: "2", terminal: true, status: "dead" }), old]);
    expect(await waitForSettlement(client, { ...options, after: "1" })).toMatchObject({ id: "2" });
  });

  test("ends when the time is over, also while an answer does not come", async () => {
    let asked: AbortSignal | undefined;
    const client = {
      listSwaps(_query?: object, call?: { signal?: AbortSignal }) {
        asked = call?.signal;
        return hang();
      },
    };
    const waiting = waitForSettlement(client, { ...options, timeoutMs: 20 });
    await expect(waiting).rejects.toBeInstanceOf(SluiceTimeoutError);
    expect(asked?.aborted).toBe(true);
  });

  test("ends with the signal, also while an answer does not come, and leaves nothing at it", async () => {
    const aborting = new AbortController();
    const { signal } = aborting;
    const client = {
      listSwaps() {
        queueMicrotask(() => aborting.abort());
        return hang();
      },
    };
    const waiting = waitForSettlement(client, { ...options, signal });
    await expect(waiting).rejects.toBeInstanceOf(SluiceTimeoutError);
    expect(getEventListeners(signal, "abort")).toEqual([]);

    const other = new AbortController();
    const done = [swap({ status: "completed", terminal: true })];
    await waitForSettlement(answering([], [], done), { ...options, signal: other.signal });
    expect(getEventListeners(other.signal, "abort")).toEqual([]);
  });

  test("waits as long as it was told, however long that is", async () => {
    const done = [swap({ status: "completed", terminal: true })];
    const client = answering([], [], done);
    for (const timeoutMs of [Number.POSITIVE_INFINITY, 2 ** 40]) {
      expect(await waitForSettlement(client, { ...options, timeoutMs })).toBe(done[0]);
    }
  });

  test("ends when the time is over, and with a key that is refused", async () => {
    await expect(
      waitForSettlement(answering([]), { ...options, timeoutMs: 20 }),
    ).rejects.toBeInstanceOf(SluiceTimeoutError);
    const refusal = new SluiceApiError({ code: "FORBIDDEN", message: "no", retryable: false }, 403);
    await expect(waitForSettlement(answering(refusal), options)).rejects.toBe(refusal);
  });
});
