/** The honest integrator: pays deposits at a steady pace, and measures the time from each payment to its completion. */
import type { ChainName } from "@sluice/sandbox";
import { connectStream, type StreamEvent } from "@sluice/sdk";
import type { Address } from "viem";
import { setTimeout as sleep } from "node:timers/promises";
import { afterFee, USDC } from "../support/deposits.ts";
import type { World } from "../support/world.ts";
import { HONEST } from "./scene.ts";

const AMOUNT = 20n * USDC;

/** Pairs of source and destination in turns: a delivery each way, and a transfer on one chain. */
const WAYS = [
  ["ethereum", "base"],
  ["base", "ethereum"],
  ["base", "base"],
] as const satisfies readonly (readonly [ChainName, ChainName])[];

interface Paid {
  readonly address: Address;
  readonly recipient: Address;
  readonly from: ChainName;
  readonly to: ChainName;
  readonly paidAt: number;
}

export type Honest = ReturnType<typeof startHonest>;

/** Starts to pay deposits. */
export function startHonest(world: World, everyMs: number) {
  const paid: Paid[] = [];
  const completedAt = new Map<string, number>();
  const heard = new Map<string, { readonly status: string; readonly at: number }[]>();
  const failures: string[] = [];
  const stopping = new AbortController();
  const stream = connectStream({
    baseUrl: world.serviceUrls().baseUrl,
    apiKey: world.apiKeyOf(HONEST),
    onConnected: () => undefined,
    onEvent: hear,
    onError: (error) => failures.push(String(error)),
  });

  function hear({ type, data }: StreamEvent): void {
    const status = type === "status_changed" ? data.status : "detected";
    const events = heard.get(data.walletAddress) ?? [];
    heard.set(data.walletAddress, [...events, { status, at: performance.now() }]);
    if (type !== "status_changed" || !data.terminal) return;
    if (data.status === "completed") completedAt.set(data.walletAddress, performance.now());
    else failures.push(`${data.walletAddress} ended ${data.status}: ${data.error?.code}`);
  }

  async function payOne(from: ChainName, to: ChainName): Promise<void> {
    const recipient = world.newRecipient();
    const { address } = await world.quote({ from, to, recipient, userId: recipient, by: HONEST });
    await world.pay(from, address, AMOUNT);
    paid.push({ address, recipient, from, to, paidAt: performance.now() });
  }

  async function run(): Promise<void> {
    const started: Promise<void>[] = [];
    for (let index = 0; !stopping.signal.aborted; index += 1) {
      const [from, to] = WAYS[index % WAYS.length] ?? WAYS[0];
      started.push(
        payOne(from, to).catch(
          (error: unknown) => void failures.push(String(error).split("\n")[0] ?? ""),
        ),
      );
      await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
    await Promise.all(started);
  }

  const running = run();

  /** Waits until everything that was paid by now is completed, or the time is over. */
  async function completed(deadlineMs: number): Promise<void> {
    const now = [...paid];
    const deadline = performance.now() + deadlineMs;
    while (performance.now() < deadline && now.some(({ address }) => !completedAt.has(address))) {
      await sleep(100);
    }
  }

  return {
    completed,
    /** Stops to pay, and waits until all deposits are completed or the time is over. */
    async finish(deadlineMs: number): Promise<void> {
      stopping.abort();
      await running;
      await completed(deadlineMs);
    },
    /** Seconds from payment to completion of the deposits that were paid since a time. */
    seconds: (since: number, until: number): readonly number[] =>
      paid
        .filter(({ paidAt }) => paidAt >= since && paidAt < until)
        .map(({ address, paidAt }) => ((completedAt.get(address) ?? Infinity) - paidAt) / 1_000),
    /** Describes the slowest deposits: the second of each status, from the payment on. */
    slowest(count: number): readonly string[] {
      const took = ({ address, paidAt }: Paid) => (completedAt.get(address) ?? Infinity) - paidAt;
      return paid
        .toSorted((one, next) => took(next) - took(one))
        .slice(0, count)
        .map(({ from, to, address, paidAt }) => {
          const second = (at: number) => ((at - paidAt) / 1_000).toFixed(1);
          const events = (heard.get(address) ?? []).map(
            ({ status, at }) => `${status} ${second(at)}`,
          );
          return `${from} to ${to} ${address}: ${events.join(", ")}`;
        });
    },
    /** Checks that each recipient was paid exactly once; returns the violations. */
    async check(): Promise<readonly string[]> {
      const wrong = [...failures];
      for (const { address, recipient, to } of paid) {
        const balance = await world.balance(to, recipient);
        if (balance !== afterFee(AMOUNT)) wrong.push(`${address}: its recipient has ${balance}`);
      }
      return wrong;
    },
    count: () => paid.length,
    close: () => stream.close(),
  };
}
