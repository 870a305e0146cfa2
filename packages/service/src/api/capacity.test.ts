/** What a process serves at the same time falls while its event loop is busy, and waiting requests are served by turns. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createStillClock } from "../../test/support/doubles.ts";
import { createCapacity } from "./capacity.ts";

const BUSY = 0.95;

/** Opens a capacity of which every place is taken; waits end when `expire` is called. */
async function openFull(places: "most" | "fewest" = "most") {
  const expiring: (() => void)[] = [];
  const clock = {
    ...createStillClock(),
    sleep: (_: number, signal?: AbortSignal) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      expiring.push(resolve);
      signal?.addEventListener("abort", () => resolve());
      return promise;
    },
  };
  const capacity = createCapacity(clock);
  if (places === "fewest") for (let n = 0; n < 20; n += 1) capacity.adjust(BUSY);
  const held: (() => void)[] = [];
  for (let n = 0; n < (places === "most" ? 64 : 4); n += 1) {
    held.push(await capacity.enter("first"));
  }
  const served: string[] = [];
  const ask = (name: string) =>
    capacity.enter(name).then((leave) => {
      served.push(name);
      return leave;
    });
  const giveBack = async (count: number) => {
    for (const leave of held.splice(0, count)) leave();
    await sleep(0);
  };
  return { capacity, ask, served, giveBack, expire: () => expiring.forEach((end) => end()) };
}

test("one integrator's many requests delay another by one of them", async () => {
  const { ask, served, giveBack } = await openFull();
  for (let n = 0; n < 5; n += 1) void ask("many");
  void ask("few");
  void ask("few");
  await giveBack(5);
  expect(served).toEqual(["many", "few", "many", "few", "many"]);
});

test("a request that waits too long, or behind too many of its integrator, is refused with 503", async () => {
  const { ask, expire, giveBack, served } = await openFull();
  const refused = { httpStatus: 503, retryAfterS: 1, code: "RPC_UNAVAILABLE" };
  const waiting = Array.from({ length: 64 }, () => ask("many"));
  await expect(ask("many")).rejects.toMatchObject(refused);
  const few = ask("few");
  expire();
  for (const one of [...waiting, few]) await expect(one).rejects.toMatchObject(refused);
  // Nobody waits any more: the next request takes the place at once.
  await giveBack(1);
  await ask("few");
  expect(served).toEqual(["few"]);
});

test("fewer requests are served while the event loop is busy, some always, and as many as before soon after", async () => {
  const { capacity, ask, served, giveBack } = await openFull("fewest");
  for (let n = 0; n < 70; n += 1) void ask(`integrator ${n}`);
  await giveBack(1);
  expect(served).toHaveLength(1);
  capacity.adjust(BUSY);
  expect(served).toHaveLength(1);
  // Within eight seconds.
  for (let n = 0; n < 30; n += 1) capacity.adjust(0);
  await sleep(0);
  expect(served).toHaveLength(61);
});

test("a place is given back once", async () => {
  const { ask, served, giveBack } = await openFull();
  await giveBack(1);
  const leave = await ask("one");
  leave();
  leave();
  await ask("two");
  const third = ask("three");
  await sleep(0);
  expect(served).toEqual(["one", "two"]);
  await giveBack(1);
  await third;
});
