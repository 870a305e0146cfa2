/** The parts of following and waiting that need no service; against a real one they are in the service's stories. */
import { describe, expect, test } from "vitest";
import type { Swap } from "../wire/index.ts";
import { SluiceApiError, SluiceGapError, SluiceTimeoutError } from "./errors.ts";
import { followEvents } from "./follow.ts";
import { waitForSettlement } from "./settlement.ts";

const KEY = "0b5e0a4e-6f3c-4a53-9d7a-2f9f0a3f6c11";
const NOWHERE = "http://127.0.0.1:1";
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

describe("following", () => {
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

  test("ends when the time is over, and with a key that is refused", async () => {
    await expect(
      waitForSettlement(answering([]), { ...options, timeoutMs: 20 }),
    ).rejects.toBeInstanceOf(SluiceTimeoutError);
    const refusal = new SluiceApiError({ code: "FORBIDDEN", message: "no", retryable: false }, 403);
    await expect(waitForSettlement(answering(refusal), options)).rejects.toBe(refusal);
  });
});
