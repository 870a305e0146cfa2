/** Requests for large answers: to as many nodes as must agree, and to the others when these are no help. */
import { expect, test } from "vitest";
import { createNodes, type Nodes } from "./ask-nodes.ts";
import { silentLog } from "../../test/support/doubles.ts";
import { OperatingError } from "../core/errors.ts";
import { toHex32 } from "../core/hex.ts";

const FIRST = toHex32(`0x${"00".repeat(32)}`);

type Say = () => Promise<string>;

interface Double {
  readonly chainId: number;
  checkIdentity(): Promise<void>;
  say: Say;
  asked: number;
}

const truth: Say = async () => "truth";
const lie: Say = async () => "lie";
const hang: Say = () => new Promise(() => undefined);
const fail: Say = async () => {
  throw new OperatingError("RPC_UNAVAILABLE", "unreachable");
};

function open(say: readonly Say[]) {
  const doubles = say.map((one): Double => ({
    chainId: 2,
    checkIdentity: async () => undefined,
    say: one,
    asked: 0,
  }));
  const clock = createManualClock();
  const nodes = createNodes(doubles, {
    required: 2,
    clock,
    log: silentLog,
    readFirst: async () => FIRST,
  });
  return { doubles, nodes, clock, asked: () => doubles.map(({ asked }) => asked) };
}

/** A clock whose sleeps end only when a test advances it. */
function createManualClock() {
  let nowMs = 0;
  const sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];
  return {
    now: () => nowMs,
    sleep: (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        sleepers.push({ atMs: nowMs + ms, wake: resolve });
        signal?.addEventListener("abort", () => resolve());
      }),
    async advance(ms: number): Promise<void> {
      await settle();
      nowMs += ms;
      for (const { atMs, wake } of sleepers) if (atMs <= nowMs) wake();
      await settle();
    },
  };
}

const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

const ask = ({ sparing }: Nodes<Double>) =>
  sparing.agree((node) => {
    node.asked += 1;
    return node.say();
  });

const collect = ({ sparing }: Nodes<Double>) =>
  sparing.collect((node) => {
    node.asked += 1;
    return node.say();
  });

test("asks two of three nodes, in turns, if two must agree", async () => {
  const { nodes, asked } = open([truth, truth, truth]);
  for (let question = 0; question < 3; question += 1) expect(await ask(nodes)).toBe("truth");
  expect(asked()).toEqual([2, 2, 2]);
  expect((await collect(nodes)).values).toEqual(["truth", "truth"]);
});

test("asks the third when one has no answer, which comes last for a minute", async () => {
  const { nodes, asked, clock } = open([fail, truth, truth]);
  for (let question = 0; question < 4; question += 1) expect(await ask(nodes)).toBe("truth");
  expect(asked()).toEqual([1, 4, 4]);
  await clock.advance(60_000);
  for (let question = 0; question < 3; question += 1) expect(await ask(nodes)).toBe("truth");
  expect(asked()[0]).toBe(2);
});

test("asks the third when two differ, and a liar comes last [T48]", async () => {
  const { nodes, asked } = open([truth, lie, truth]);
  for (let question = 0; question < 4; question += 1) expect(await ask(nodes)).toBe("truth");
  expect(asked()).toEqual([4, 1, 4]);
});

test("collects the third answer when two differ", async () => {
  const { nodes, asked } = open([truth, lie, truth]);
  expect((await collect(nodes)).values.toSorted()).toEqual(["lie", "truth", "truth"]);
  await collect(nodes);
  expect(asked()).toEqual([2, 1, 2]);
});

test("asks the third when one takes three times as long as the other and a second", async () => {
  const { nodes, asked, clock } = open([truth, hang, truth]);
  const answer = ask(nodes);
  await clock.advance(999);
  expect(asked()).toEqual([1, 1, 0]);
  await clock.advance(1);
  expect(await answer).toBe("truth");
  expect(await ask(nodes)).toBe("truth");
  expect(asked()).toEqual([2, 1, 2]);
});

test("asks the third when no node has answered for 10 s", async () => {
  const { nodes, asked, clock } = open([hang, hang, truth]);
  void ask(nodes);
  await clock.advance(9_999);
  expect(asked()).toEqual([1, 1, 0]);
  await clock.advance(1);
  expect(asked()).toEqual([1, 1, 1]);
});

test("has no answer when two of three nodes have none [T49, D5]", async () => {
  const { nodes } = open([fail, truth, fail]);
  await expect(ask(nodes)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  await expect(collect(nodes)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
});
