/** Measures of the siege: another integrator's API, stream and deposits, and the process of the service. */
import type { ChainName } from "@sluice/sandbox";
import { connectStream, type StreamEvent } from "@sluice/sdk";
import { setTimeout as sleep } from "node:timers/promises";
import { USDC } from "../../support/deposits.ts";
import type { World } from "../../support/world.ts";

/** Index of the world's integrator that is disturbed. */
export const HONEST = 1;

/** Milliseconds, each with the time at which it was measured. */
export class Series {
  readonly #points: { readonly at: number; readonly value: number }[] = [];

  add(value: number): void {
    this.#points.push({ at: performance.now(), value });
  }

  /** Returns the values of an interval, the smallest first. */
  between(from: number, to: number): readonly number[] {
    return this.#points
      .filter(({ at }) => at >= from && at < to)
      .map(({ value }) => value)
      .toSorted((one, next) => one - next);
  }
}

/** Returns the value below which a share of sorted values lies. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

const CALL_EVERY_MS = 200;
const PAY_EVERY_MS = 2_000;
const SCRAPE_EVERY_MS = 2_000;
const PATHS = ["/swaps", "/deposits?limit=20", "/events", "/deposit-addresses", "/chains"] as const;

export type Measures = ReturnType<typeof startMeasures>;

/** Measures until it is stopped. */
export function startMeasures(world: World) {
  const series = {
    api: new Series(),
    stream: new Series(),
    detection: new Series(),
    memory: new Series(),
    loop: new Series(),
    descriptors: new Series(),
  };
  const failures: string[] = [];
  const fail = (what: string) => (error: unknown) => {
    failures.push(`${what}: ${String(error).split("\n")[0] ?? ""}`);
  };
  const stopping = new AbortController();
  const { baseUrl } = world.serviceUrls();
  const apiKey = world.apiKeyOf(HONEST);
  const paidAt = new Map<string, number>();

  const stream = connectStream({
    baseUrl,
    apiKey,
    onConnected: () => undefined,
    onError: fail("stream"),
    onEvent({ type, data, timestamp }: StreamEvent) {
      series.stream.add(Date.now() - Date.parse(timestamp));
      const paid = paidAt.get(data.walletAddress);
      if (type === "deposit_detected" && paid !== undefined) {
        series.detection.add(performance.now() - paid);
        paidAt.delete(data.walletAddress);
      }
    },
  });

  async function call(round: number): Promise<void> {
    const path = PATHS[round % PATHS.length] ?? PATHS[0];
    const startMs = performance.now();
    const headers = path === "/chains" ? {} : { "x-api-key": apiKey };
    const answer = await fetch(`${baseUrl}${path}`, { headers });
    await answer.arrayBuffer();
    series.api.add(performance.now() - startMs);
    if (answer.status !== 200) fail(path)(answer.status);
  }

  async function pay(round: number): Promise<void> {
    const [from, to]: readonly [ChainName, ChainName] =
      round % 2 === 0 ? ["ethereum", "base"] : ["base", "ethereum"];
    const recipient = world.newRecipient();
    const startMs = performance.now();
    const { address } = await world.quote({ from, to, recipient, userId: recipient, by: HONEST });
    series.api.add(performance.now() - startMs);
    paidAt.set(address, performance.now());
    await world.pay(from, address, 20n * USDC);
  }

  /** Reads the metrics of the service's process. The longest delay of its loop is since the last scrape. */
  async function scrape(): Promise<void> {
    const text = await (await fetch(`${world.telemetryUrl()}/metrics`)).text();
    const read = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)?.[1]);
    series.memory.add(read("process_resident_memory_bytes"));
    series.loop.add(read("nodejs_eventloop_lag_max_seconds") * 1_000);
    series.descriptors.add(read("process_open_fds"));
  }

  /** Starts work at a steady pace, whether or not it has ended. */
  async function repeat(everyMs: number, what: string, work: (round: number) => Promise<void>) {
    const started: Promise<void>[] = [];
    for (let round = 0; !stopping.signal.aborted; round += 1) {
      started.push(work(round).catch(fail(what)));
      await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
    await Promise.all(started);
  }

  const running = Promise.all([
    repeat(CALL_EVERY_MS, "api", call),
    repeat(PAY_EVERY_MS, "payment", pay),
    repeat(SCRAPE_EVERY_MS, "metrics", scrape),
  ]);

  return {
    series,
    failures,
    /** Returns the deposits that were paid and have not been shown for some time. */
    missing: (sinceMs: number) =>
      [...paidAt.values()].filter((at) => performance.now() - at > sinceMs).length,
    async stop(): Promise<void> {
      stopping.abort();
      await running;
      stream.close();
    },
  };
}
