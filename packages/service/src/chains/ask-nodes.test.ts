/** Requests to several nodes: identity checks, open requests, waiting for answers, and the text of errors and logs. */
import { expect, test } from "vitest";
import { createKeepingLog } from "../../test/support/doubles.ts";
import {
  createDeadNode,
  createHonestNode,
  createLiar,
  createOddNode,
  createQuickClock,
  TOKEN,
  unavailable,
  WALLET,
} from "../../test/support/quorum-doubles.ts";
import { OperatingError } from "../core/errors.ts";
import { createNodes } from "./ask-nodes.ts";
import type { ChainAtBlocks } from "./quorum.ts";

/** Returns the hash of the first block. */
const readFirst = async (node: ChainAtBlocks) => (await node.getBlock(0n))?.hash ?? null;

function nodesOf(chains: readonly ChainAtBlocks[], required = 2) {
  const { log, lines } = createKeepingLog();
  const clock = createQuickClock();
  const sleeps: { readonly ms: number; readonly signal: AbortSignal | undefined }[] = [];
  const watched = {
    ...clock,
    sleep: (ms: number, signal?: AbortSignal) => {
      sleeps.push({ ms, signal });
      return clock.sleep();
    },
  };
  return {
    nodes: createNodes(chains, { required, clock: watched, log, readFirst }),
    clock,
    lines,
    sleeps,
  };
}

const settle = () => createQuickClock().sleep();
const saying = (height: bigint) =>
  createLiar((answer, method) => (method === "getFinalNumber" ? height : answer));
const thrownBy = async (promise: Promise<unknown>) =>
  promise.then(
    () => Promise.reject(new Error("expected it to throw")),
    (error: unknown) => error,
  );

test("checks the identity of a node once in five minutes", async () => {
  let looks = 0;
  const counted = () => ({
    ...createHonestNode(),
    checkIdentity: async () => {
      looks += 1;
    },
  });
  const { nodes, clock } = nodesOf([counted(), createHonestNode()]);
  const ask = () => nodes.agree((node) => node.getBalance(TOKEN, WALLET));
  await Promise.all([ask(), ask()]);
  clock.advance(299_999);
  await ask();
  expect(looks).toBe(1);
  clock.advance(1);
  await ask();
  expect(looks).toBe(2);
  // A clock that is set back must not extend the validity.
  clock.advance(-300_000);
  await ask();
  expect(looks).toBe(3);
});

test("repeats the identity check at the next question after it failed", async () => {
  let looks = 0;
  const shy = {
    ...createHonestNode(),
    checkIdentity: async () => {
      looks += 1;
      if (looks === 1) throw new OperatingError("RPC_UNAVAILABLE", "not yet");
    },
  };
  const { nodes } = nodesOf([shy, createHonestNode()]);
  const ask = () => nodes.agree((node) => node.getBalance(TOKEN, WALLET));
  expect(await thrownBy(ask())).toMatchObject({ code: "RPC_UNAVAILABLE" });
  await ask();
  expect(looks).toBe(2);
});

test("repeats an identity check that goes on failing ever more seldom, at least every 10 s [T147]", async () => {
  let looks = 0;
  const wrong = {
    ...createHonestNode(),
    checkIdentity: async () => {
      looks += 1;
      throw new OperatingError("RPC_UNAVAILABLE", "never");
    },
  };
  const { nodes, clock } = nodesOf([wrong, createHonestNode(), createHonestNode()]);
  const ask = () => nodes.agree((node) => node.getBalance(TOKEN, WALLET));
  for (let second = 0; second < 60; second++) {
    for (let times = 0; times < 10; times++) {
      await ask();
      await settle();
    }
    clock.advance(1_000);
  }
  // At 0, 0, 1, 2, 4, 8, 16 s and then every 10 s, instead of 600 times.
  expect(looks).toBeGreaterThanOrEqual(10);
  expect(looks).toBeLessThanOrEqual(13);
});

test("keeps the result of a later identity check when an earlier one fails after it", async () => {
  const failures: (() => void)[] = [];
  let looks = 0;
  const slow = {
    ...createHonestNode(),
    checkIdentity: async () => {
      looks += 1;
      if (looks > 1) return;
      await new Promise<void>((_, reject) => failures.push(() => reject(unavailable())));
    },
  };
  const { nodes, clock } = nodesOf([slow, createHonestNode(), createHonestNode()]);
  const ask = async () => {
    await nodes.agree((node) => node.getBalance(TOKEN, WALLET));
    await settle();
  };
  await ask();
  clock.advance(300_000);
  await ask();
  expect(looks).toBe(2);
  for (const fail of failures) fail();
  await settle();
  await ask();
  expect(looks).toBe(2);
});

test("a node without a first block counts as not answering", async () => {
  const empty = createLiar((answer, method) => (method === "getBlock" ? null : answer));
  const { nodes, lines } = nodesOf([empty, createHonestNode(), createHonestNode()]);
  await nodes.agree((node) => node.getBalance(TOKEN, WALLET));
  await settle();
  expect(lines).toMatchObject([
    { msg: "a node gave no answer", node: 0, err: { details: { reason: "no first block" } } },
  ]);
});

test("a hung node has at most 256 open requests, and gets new ones once it answers", async () => {
  const answers: (() => void)[] = [];
  const slow = createHonestNode();
  const hung = {
    ...slow,
    sequencing: {
      kind: "nonce",
      getTransactionCount: () => new Promise<number>((resolve) => answers.push(() => resolve(1))),
    } as const,
    getBlock: slow.getBlock,
    checkIdentity: slow.checkIdentity,
  };
  const chains = [hung, createHonestNode(), createHonestNode()];
  const { nodes } = nodesOf(chains);
  const ask = () => nodes.agree((node) => node.sequencing.getTransactionCount(WALLET));
  for (let round = 0; round < 300; round += 1) await ask();
  await settle();
  expect(answers).toHaveLength(256);
  // The other two disagree, and the hung one gets no new question: the call fails at once.
  const asked = nodes.collect(async (node) => (node === chains[1] ? 1 : 2));
  const error = (await asked).disagreement();
  expect(Object(error.cause).message).toBe(
    "node 0: no answer (too many open requests); node 1: 1; node 2: 2",
  );
  for (const answer of answers) answer();
  await settle();
  await ask();
  await settle();
  expect(answers).toHaveLength(257);
});

test("waits one second for the remaining nodes when enough answered but disagree", async () => {
  const late = createOddNode(() => new Promise(() => {}));
  const { nodes, sleeps } = nodesOf([saying(1n), saying(2n), late]);
  const { values, disagreement } = await nodes.collect((node) => node.getFinalNumber());
  expect([...values].sort()).toEqual([1n, 2n]);
  expect(Object(disagreement().cause).message).toBe(
    'node 0: "1"; node 1: "2"; node 2: nothing yet',
  );
  expect(sleeps.map(({ ms }) => ms)).toEqual([1_000]);
  expect(sleeps[0]?.signal?.aborted).toBe(true);
});

test("an answer within that second does not start another one", async () => {
  const late = createOddNode(() => new Promise(() => {}));
  const { nodes, sleeps } = nodesOf([...[1n, 2n, 3n, 4n].map(saying), late], 3);
  expect((await nodes.collect((node) => node.getFinalNumber())).values).toHaveLength(4);
  expect(sleeps).toHaveLength(1);
});

test("does not wait when all nodes answered, though differently", async () => {
  const { nodes, sleeps } = nodesOf([1n, 2n].map(saying));
  expect((await nodes.collect((node) => node.getFinalNumber())).values).toHaveLength(2);
  expect(sleeps).toEqual([]);
});

test("does not wait when enough nodes agree or all have answered or failed", async () => {
  const late = createOddNode(() => new Promise(() => {}));
  for (const chains of [
    [saying(1n), saying(1n), late],
    [saying(1n), createDeadNode(), saying(1n)],
  ]) {
    const { nodes, sleeps } = nodesOf(chains);
    expect((await nodes.collect((node) => node.getFinalNumber())).values).toEqual([1n, 1n]);
    expect(sleeps).toEqual([]);
  }
});

test("a disagreement states the number of answers, the quorum and each node's answer", async () => {
  const { nodes } = nodesOf([saying(1n), saying(2n), createDeadNode()]);
  const collected = await nodes.collect((node) => node.getFinalNumber());
  const error = collected.disagreement();
  expect(error).toMatchObject({
    code: "RPC_UNAVAILABLE",
    message: "The chain's nodes do not agree.",
    details: { chainId: 2, reason: "nodes disagree", answered: 2, required: 2 },
  });
  expect(Object(error.cause).message).toBe(
    'node 0: "1"; node 1: "2"; node 2: no answer (unreachable)',
  );
  const agreeing = await thrownBy(nodes.agree((node) => node.getFinalNumber()));
  expect(agreeing).toMatchObject({ details: { reason: "nodes disagree", answered: 2 } });
});

test("a disagreement shows an error of our own code without its message", async () => {
  const chains = [createHonestNode(), createHonestNode(), createHonestNode()];
  const { nodes } = nodesOf(chains);
  const collected = await nodes.collect(async (node) => {
    if (node === chains[2]) throw new TypeError("https://user:secret@node.example");
    return chains.indexOf(node);
  });
  expect(Object(collected.disagreement().cause).message).toBe(
    "node 0: 0; node 1: 1; node 2: no answer (a mistake of ours)",
  );
});

test("equal refusals agree: same code and same details", async () => {
  const refusal = (code: "INSUFFICIENT_BALANCE" | "SIMULATION_REVERTED", reason: string) =>
    new OperatingError(code, "No.", { details: { reason } });
  const poor = refusal("INSUFFICIENT_BALANCE", "gas");
  const ask = (errors: readonly OperatingError[]) => {
    const { nodes } = nodesOf([createHonestNode(), createHonestNode(), createDeadNode()]);
    let turn = 0;
    return thrownBy(
      nodes.agree(async () => {
        turn += 1;
        throw errors[turn - 1] ?? new Error("the dead node is asked nothing");
      }),
    );
  };
  expect(await ask([poor, refusal("INSUFFICIENT_BALANCE", "gas")])).toBe(poor);
  for (const other of [
    refusal("INSUFFICIENT_BALANCE", "value"),
    refusal("SIMULATION_REVERTED", "gas"),
  ]) {
    expect(await ask([poor, other])).toMatchObject({
      code: "RPC_UNAVAILABLE",
      details: { reason: "nodes disagree", answered: 2 },
    });
  }
});

test("findAny judges only the answers of nodes that answered", async () => {
  const { nodes } = nodesOf([createDeadNode(), saying(1n), createDeadNode()]);
  const judged: unknown[] = [];
  const found = await nodes.findAny(
    (node) => node.getFinalNumber(),
    (value) => {
      judged.push(value);
      return "counts";
    },
  );
  expect(found).toBeNull();
  expect(new Set(judged)).toEqual(new Set([1n]));
});

test("the error of too few answers states the chain and the quorum", async () => {
  const { nodes } = nodesOf([saying(1n), createDeadNode(), createDeadNode()]);
  for (const asked of [
    nodes.agree((node) => node.getFinalNumber()),
    nodes.collect((node) => node.getFinalNumber()),
  ]) {
    expect(await thrownBy(asked)).toMatchObject({
      message: "Too few of the chain's nodes gave a usable answer.",
      details: { chainId: 2, reason: "too few nodes", required: 2 },
    });
  }
});

test("logs at most 300 characters of an answer, and an empty one as done", async () => {
  const { nodes, lines } = nodesOf([createHonestNode(), createHonestNode(), createHonestNode()]);
  let turn = 0;
  await nodes.agree(async () => {
    turn += 1;
    return turn === 3 ? "x".repeat(400) : "short";
  });
  await settle();
  expect(lines).toMatchObject([{ node: 2, said: `"${"x".repeat(299)}`, others: '"short"' }]);
  turn = 0;
  const other = nodesOf([createHonestNode(), createHonestNode(), createHonestNode()]);
  await other.nodes.agree(async () => {
    turn += 1;
    return turn === 3 ? undefined : "short";
  });
  await settle();
  expect(other.lines).toMatchObject([{ node: 2, said: "done", others: '"short"' }]);
});

test("reachedBy returns the greatest value that enough nodes reach, in any order", () => {
  const { nodes } = nodesOf([createHonestNode(), createHonestNode(), createHonestNode()]);
  for (const values of [
    [1, 2, 3],
    [3, 2, 1],
    [2, 3, 1],
  ]) {
    expect(nodes.reachedBy(values)).toBe(2);
  }
  expect(nodes.reachedBy([5n, 5n, 1n])).toBe(5n);
  expect(() => nodes.reachedBy([1])).toThrow("enough nodes answered");
});
