/** Several nodes as one chain: answers are those of enough nodes, while others lie, lag, hang or are dead. */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createKeepingLog } from "../../test/support/doubles.ts";
import {
  blockAt,
  CALL,
  createDeadNode,
  createHonestNode,
  createHungNode,
  createLiar,
  createOddNode,
  createQuickClock,
  FINAL,
  hashAt,
  HEAD,
  ID,
  lieAbout,
  MINED,
  type NodeMethod,
  POOL_FEE,
  quorumOf,
  TOKEN,
  unavailable,
  LOCK,
  PAID,
  UNKNOWN_ID,
  UNMINED,
  type View,
  WALLET,
} from "../../test/support/quorum-doubles.ts";
import { OperatingError } from "../core/errors.ts";
import { NATIVE_TOKEN } from "../core/hex.ts";
import type { ContractWallets, SendOutcome, Simulation } from "./port/index.ts";
import type { ChainAtBlocks } from "./quorum.ts";

interface Question {
  readonly name: string;
  /** The method whose answer the liar changes. */
  readonly method: NodeMethod;
  readonly ask: (chain: ChainAtBlocks) => Promise<unknown>;
}

const HELD = { wallet: WALLET, token: TOKEN, fromBlock: 3n };

/** A request for the contents of a new block. */
const SECTION = {
  after: HEAD - 1n,
  max: 1,
  isFinal: false,
  isOld: false,
  tokens: [TOKEN, NATIVE_TOKEN],
  choose: async () => new Set([WALLET, TOKEN]),
};

/** All questions decided by agreement. Sending, estimates and hints have their own tests. */
const swapIn = (poolFee: number) => ({
  quoter: WALLET,
  tokenIn: TOKEN,
  tokenOut: WALLET,
  poolFee,
  amountIn: 7n,
});
const LIMITED = { route: WALLET, token: TOKEN, amountIn: 5n };
const NO_LOCK = { ...LOCK, commitment: UNKNOWN_ID };
const CHANGES = { from: 1n, to: 9n, routes: [] };
const PART = { from: 1n, to: 9n };
const UNPAID = { ...PAID, deliveryId: UNKNOWN_ID };

const QUESTIONS: readonly Question[] = [
  { name: "getHead", method: "getHead", ask: (c) => c.getHead() },
  { name: "getFinalBlock", method: "getFinalBlock", ask: (c) => c.getFinalBlock() },
  { name: "getSafeBlock", method: "getSafeBlock", ask: (c) => c.getSafeBlock() },
  { name: "getTime of the final block", method: "getTime", ask: (c) => c.getTime("final") },
  { name: "getTime of the newest block", method: "getTime", ask: (c) => c.getTime("latest") },
  { name: "getBlock", method: "getBlock", ask: (c) => c.getBlock(50n) },
  { name: "getBlock of the head", method: "getBlock", ask: (c) => c.getBlock(HEAD) },
  { name: "getBlock beyond the head", method: "getBlock", ask: (c) => c.getBlock(HEAD + 1n) },
  ...[true, false].map((isFinal): Question => ({
    name: `readSection of ${isFinal ? "final" : "old"} blocks`,
    method: "readSection",
    ask: (c) =>
      c.readSection({ ...SECTION, after: 8n, max: isFinal ? 5 : 1, isFinal, isOld: true }),
  })),
  {
    name: "readSection of new blocks",
    method: "readSection",
    ask: (c) => c.readSection({ ...SECTION, after: HEAD - 3n, max: 3 }),
  },
  {
    name: "listNativeBalances",
    method: "listNativeBalances",
    ask: (c) => c.balances.listNativeBalances(blockAt(FINAL), [WALLET, TOKEN]),
  },
  {
    name: "listTokenBalances",
    method: "listTokenBalances",
    ask: (c) =>
      c.balances.listTokenBalances(blockAt(FINAL).hash, [
        { token: TOKEN, wallet: WALLET },
        { token: WALLET, wallet: TOKEN },
      ]),
  },
  { name: "getBalance", method: "getBalance", ask: (c) => c.getBalance(TOKEN, WALLET) },
  { name: "findBalance", method: "findBalance", ask: (c) => c.findBalance(TOKEN, WALLET) },
  { name: "findBalance of none", method: "findBalance", ask: (c) => c.findBalance(WALLET, WALLET) },
  { name: "hasCode", method: "hasCode", ask: (c) => c.wallets.hasCode(WALLET) },
  { name: "readPriceFeed", method: "readPriceFeed", ask: (c) => c.priceFeeds.readPriceFeed(TOKEN) },
  { name: "quoteSwap", method: "quoteSwap", ask: (c) => c.pools.quoteSwap(swapIn(POOL_FEE)) },
  { name: "readSwapLimits", method: "readSwapLimits", ask: (c) => c.pools.readSwapLimits(LIMITED) },
  { name: "quoteSwap of no pool", method: "quoteSwap", ask: (c) => c.pools.quoteSwap(swapIn(1)) },
  {
    name: "nonce",
    method: "getTransactionCount",
    ask: (c) => c.sequencing.getTransactionCount(WALLET),
  },
  { name: "suggestFees", method: "suggestFees", ask: (c) => c.suggestFees() },
  { name: "getReceipt", method: "getReceipt", ask: (c) => c.getReceipt(MINED) },
  { name: "getReceipt of none", method: "getReceipt", ask: (c) => c.getReceipt(UNMINED) },
  {
    name: "findRefund",
    method: "findRefund",
    ask: (c) => c.findRefund({ wallet: WALLET, token: TOKEN, fromBlock: 3n }),
  },
  { name: "no refund", method: "findRefund", ask: (c) => c.findRefund({ ...HELD, token: WALLET }) },
  { name: "findOutflow", method: "findOutflow", ask: (c) => c.wallets.findOutflow(HELD) },
  { name: "getLock, final", method: "getLock", ask: (c) => c.getLock(LOCK, "final") },
  { name: "getLock of none", method: "getLock", ask: (c) => c.getLock(NO_LOCK, "latest") },
  { name: "findDelivery", method: "findDelivery", ask: (c) => c.findDelivery(PAID) },
  { name: "findDelivery of none", method: "findDelivery", ask: (c) => c.findDelivery(UNPAID) },
  { name: "findBlockAt", method: "findBlockAt", ask: (c) => c.payoutSearch.findBlockAt(7n) },
  { name: "findIn", method: "findIn", ask: (c) => c.payoutSearch.findIn(PAID, PART) },
  { name: "listIn", method: "listIn", ask: (c) => c.payoutSearch.listIn(PART) },
  { name: "listOrdered", method: "listOrdered", ask: (c) => c.payoutSearch.listOrdered(MINED) },
  {
    name: "readMovable",
    method: "readMovable",
    ask: async (c) => c.treasury?.readMovable({ token: TOKEN, to: WALLET }),
  },
  { name: "readStock", method: "readStock", ask: async (c) => c.treasury?.readStock(TOKEN) },
  { name: "getDelay", method: "getDelay", ask: (c) => c.governance.getDelay() },
  { name: "listChanges", method: "listChanges", ask: (c) => c.governance.listChanges(CHANGES) },
  { name: "isDelivered", method: "isDelivered", ask: (c) => c.isDelivered(PAID, "latest") },
  { name: "isDelivered, final", method: "isDelivered", ask: (c) => c.isDelivered(PAID, "final") },
  {
    name: "getAnnouncement",
    method: "getAnnouncement",
    ask: (c) => c.wallets.getAnnouncement(WALLET, TOKEN),
  },
  {
    name: "getAnnouncement of none",
    method: "getAnnouncement",
    ask: (c) => c.wallets.getAnnouncement(TOKEN, TOKEN),
  },
  { name: "paused", method: "isRefused", ask: (c) => c.wallets.isRefused({ reason: "IsPaused" }) },
  {
    name: "wasListed",
    method: "wasListed",
    ask: (c) => c.wasListed({ role: "attestor", account: WALLET, time: 3n }, "final"),
  },
  { name: "threshold", method: "getThresholdAt", ask: (c) => c.getThresholdAt(3n, "final") },
  { name: "getDailyCapLeft", method: "getDailyCapLeft", ask: (c) => c.getDailyCapLeft(TOKEN) },
];

const tooFew = { code: "RPC_UNAVAILABLE", details: { reason: "too few nodes" } };
const disagreement = { code: "RPC_UNAVAILABLE", details: { reason: "nodes disagree" } };

const NEVER_NULL: ReadonlySet<string> = new Set([
  "getHead",
  "getFinalBlock",
  "getSafeBlock",
  "suggestFees",
]);

/** Returns well-formed lies; a node's adapter rejects malformed answers. */
async function liesOf({ name, ask }: Question): Promise<readonly unknown[]> {
  const lies = lieAbout(await ask(createHonestNode()));
  if (name.startsWith("readSection")) return lies.filter(isSection);
  return NEVER_NULL.has(name) ? lies.filter((lie) => lie !== null) : lies;
}

/** Returns whether a lie has the form of a section, as every answer that an adapter parsed has. */
function isSection(lie: unknown): boolean {
  if (lie === null) return true;
  if (typeof lie !== "object" || !("blocks" in lie) || !Array.isArray(lie.blocks)) return false;
  return lie.blocks.every((block) => typeof block === "object" && block !== null);
}

/** Returns one list of three nodes for each position of the odd node. */
function atEachPlace(node: () => ChainAtBlocks, others: () => ChainAtBlocks) {
  return [0, 1, 2].map((place) => [0, 1, 2].map((at) => (at === place ? node() : others())));
}

describe.each(QUESTIONS)("$name", (question) => {
  const { method, ask } = question;

  test("returns the truth when one of three nodes lies in any field [T48]", async () => {
    const truth = await ask(createHonestNode());
    const lies = await liesOf(question);
    expect(lies.length).toBeGreaterThan(0);
    for (const lie of lies) {
      const liar = () => createLiar((answer, asked) => (asked === method ? lie : answer));
      for (const nodes of atEachPlace(liar, createHonestNode)) {
        expect(await ask(quorumOf(nodes))).toEqual(truth);
      }
    }
  });

  test("returns the truth when one of three nodes is dead or hangs [T49]", async () => {
    const truth = await ask(createHonestNode());
    for (const odd of [createDeadNode, createHungNode]) {
      for (const nodes of atEachPlace(odd, createHonestNode)) {
        expect(await ask(quorumOf(nodes))).toEqual(truth);
      }
    }
  });

  test("fails when two of three nodes are dead, even if the third lies [T49, D5]", async () => {
    for (const lie of await liesOf(question)) {
      const liar = () => createLiar((answer, asked) => (asked === method ? lie : answer));
      for (const nodes of atEachPlace(liar, createDeadNode)) {
        await expect(ask(quorumOf(nodes))).rejects.toMatchObject(tooFew);
      }
    }
    for (const nodes of atEachPlace(createHonestNode, createDeadNode)) {
      await expect(ask(quorumOf(nodes))).rejects.toMatchObject(tooFew);
    }
  });

  test("returns the truth when one of three nodes is behind [T47]", async () => {
    const truth = await ask(createHonestNode());
    const behind = () => createHonestNode({ head: HEAD - 3n, final: FINAL - 3n });
    for (const nodes of atEachPlace(behind, createHonestNode)) {
      expect(await ask(quorumOf(nodes))).toEqual(truth);
    }
  });
});

describe("the quorum", () => {
  test("does not shrink, however often and in whatever order nodes fail [T49, D5]", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }), { maxLength: 30 }),
        async (rounds) => {
          let alive: readonly boolean[] = [];
          const nodes = [0, 1, 2, 3, 4].map((at) =>
            createLiar((answer) => {
              if (alive[at]) return answer;
              throw unavailable();
            }),
          );
          const clock = createQuickClock(); // Failed identity checks stand for some seconds.
          const chain = quorumOf(nodes, { required: 3, clock });
          for (alive of rounds) {
            clock.advance(10_000);
            const asked = chain.getBalance(TOKEN, WALLET);
            const answer = asked.catch(({ code, details }) => `${code}: ${details.reason}`);
            const isEnough = alive.filter(Boolean).length >= 3;
            expect(await answer).toBe(isEnough ? HEAD * 1_000n : "RPC_UNAVAILABLE: too few nodes");
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  test("never returns the answer of random liars below the quorum [T48, D5]", async () => {
    const kinds = ["honest", "behind", "liar", "dead"] as const;
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          kinds: fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 6 }),
          required: fc.integer({ min: 1, max: 6 }),
          question: fc.constantFrom(...QUESTIONS),
          choice: fc.nat(),
          /** Whether all liars tell the same lie. */
          conspire: fc.boolean(),
        }),
        async ({ kinds, required, question, choice, conspire }) => {
          const count = (kind: string) => kinds.filter((one) => one === kind).length;
          fc.pre(isQuorum(required, kinds.length) && count("liar") <= kinds.length - required);
          const behind = { head: HEAD - 2n, final: FINAL - 2n };
          const lies = await liesOf(question);
          const nodes = kinds.map((kind, at) => {
            if (kind === "honest") return createHonestNode();
            if (kind === "behind") return createHonestNode({ ...behind });
            if (kind === "dead") return createDeadNode();
            const lie = lies[(choice + (conspire ? 0 : at)) % lies.length];
            return createLiar((answer, asked) => (asked === question.method ? lie : answer));
          });
          const asked = question.ask(quorumOf(nodes, { required }));
          const [outcome] = await Promise.allSettled([asked]);
          const isEnough = count("honest") >= required;
          const isRight =
            outcome.status === "rejected"
              ? // Only where honest nodes alone are too few, or not at one place.
                outcome.reason?.code === "RPC_UNAVAILABLE" && !isEnough
              : (await isTrue(question, outcome.value)) ||
                // Where too few are honest, one that lies can pass for one that is behind, and no more.
                (!isEnough &&
                  RANKED.has(question.name) &&
                  (await isNotAhead(question, outcome.value)));
          expect({ outcome, isRight }).toMatchObject({ isRight: true });
        },
      ),
      { numRuns: 1_500 },
    );
  });

  test("must be more than half of the nodes and at most all of them [D5]", () => {
    const refused = [
      [3, 0],
      [3, 1],
      [3, 4],
      // With half of them, the other half could agree on another answer.
      [2, 1],
      [4, 2],
    ] as const;
    for (const [count, required] of refused) {
      const nodes = Array.from({ length: count }, () => createHonestNode());
      expect(() => quorumOf(nodes, { required })).toThrow(
        "the quorum is more than half of the nodes",
      );
    }
  });

  test("does not wait for a hung node once enough agree, and limits its open questions", async () => {
    let asked = 0;
    const hung = createOddNode(() => {
      asked += 1;
      return new Promise(() => {});
    });
    const chain = quorumOf([hung, createHonestNode(), createHonestNode()]);
    for (let round = 0; round < 400; round++) {
      expect((await chain.readSection(SECTION))?.blocks[0]?.outflows).toHaveLength(1);
    }
    expect(asked).toBeLessThanOrEqual(256);
  });
});

const isQuorum = (required: number, nodes: number) => required <= nodes && 2 * required > nodes;

/** Questions whose answer is the value that enough nodes reach. */
const RANKED: ReadonlySet<string> = new Set([
  "getHead",
  "getFinalBlock",
  "getSafeBlock",
  "suggestFees",
  "readSection of old blocks",
  "readSection of new blocks",
]);

/** Returns whether an answer is at most the honest one, and a head is a real block. */
async function isNotAhead({ name, ask }: Question, answer: unknown): Promise<boolean> {
  const numbersOf = (value: unknown): readonly bigint[] =>
    typeof value === "bigint"
      ? [value]
      : typeof value === "object" && value !== null
        ? Object.values(value).flatMap(numbersOf)
        : [];
  // Then too few have a new block.
  if (name.startsWith("readSection") && answer === null) return true;
  const given = numbersOf(answer);
  const most = numbersOf(await ask(createHonestNode()));
  const [first = -1n] = given;
  return (
    given.length === most.length &&
    given.every((number, index) => number <= (most[index] ?? -1n)) &&
    (name !== "getHead" || isDeepStrictEqual(answer, blockAt(first))) &&
    (name !== "getFinalBlock" || Object(answer).hash === hashAt(first))
  );
}

/** Returns whether an answer is true at the newest block or one of the two before. */
async function isTrue({ ask }: Question, answer: unknown): Promise<boolean> {
  const truths: unknown[] = [];
  for (const behind of [0n, 1n, 2n]) {
    const node = createHonestNode({ head: HEAD - behind, final: FINAL - behind });
    truths.push(await ask(node).catch(() => undefined));
  }
  return truths.some((truth) => isDeepStrictEqual(truth, answer));
}

describe("nodes at different blocks", () => {
  test("cannot outvote newer state that was seen already, with a liar on their side [T47]", async () => {
    const late: View = { head: HEAD, final: FINAL };
    const old: View = { head: HEAD - 1n, final: FINAL - 1n };
    let lies = false;
    // Answers with the state of one block ago at every block.
    const liar = createLiar((answer, method) => {
      if (!lies) return answer;
      if (method === "getHead") return blockAt(old.head);
      if (method === "getFinalBlock") return blockAt(old.final);
      if (method === "getBalance") return old.head * 1_000n;
      return method === "isDelivered" ? false : answer;
    });
    const chain = quorumOf([createHonestNode(), createHonestNode(late), liar]);
    expect(await chain.getBalance(TOKEN, WALLET)).toBe(HEAD * 1_000n);
    expect(await chain.getTime("final")).toBe(1_700_000_000n + FINAL);
    lies = true;
    Object.assign(late, old);
    await expect(chain.getBalance(TOKEN, WALLET)).rejects.toMatchObject(disagreement);
    // The late node has the final block that was seen, so it can answer about it.
    expect(await chain.isDelivered(PAID, "final")).toBe(true);
    expect(await chain.getFinalNumber()).toBe(FINAL);
    Object.assign(late, { head: HEAD + 1n, final: FINAL + 1n });
    expect(await chain.getBalance(TOKEN, WALLET)).toBe(HEAD * 1_000n);
    expect(await chain.isDelivered(PAID, "final")).toBe(true);
  });

  test("are not read at a block before a receipt that was seen [T51]", async () => {
    const views: View[] = [0, 1, 2].map(() => ({ head: HEAD - 1n, final: FINAL }));
    const chain = quorumOf(views.map((view) => createHonestNode(view)));
    expect(await chain.sequencing.getTransactionCount(WALLET)).toBe(Number(HEAD) - 1);
    expect(await chain.getReceipt(MINED)).toMatchObject({ blockNumber: HEAD });
    // No node has the receipt's block yet, so there is no answer.
    await expect(chain.sequencing.getTransactionCount(WALLET)).rejects.toMatchObject(tooFew);
    for (const view of views.slice(0, 2)) view.head = HEAD;
    expect(await chain.sequencing.getTransactionCount(WALLET)).toBe(Number(HEAD));
  });

  test("disagree about a receipt that one has and another lacks [T51]", async () => {
    const without = createLiar((answer, method) => (method === "getReceipt" ? null : answer));
    const nodes = [createHonestNode(), without, createDeadNode()];
    await expect(quorumOf(nodes).getReceipt(MINED)).rejects.toMatchObject(disagreement);
    nodes[2] = without;
    expect(await quorumOf(nodes).getReceipt(MINED)).toBeNull();
  });

  test("return null for a block that only some have, but never again once it was seen [T47]", async () => {
    const late: View = { head: HEAD - 1n, final: FINAL };
    const chain = quorumOf([createHonestNode(), createHonestNode(late), createDeadNode()]);
    expect(await chain.getBlock(HEAD)).toBeNull();
    late.head = HEAD;
    expect(await chain.getBlock(HEAD)).toEqual(blockAt(HEAD));
    late.head = HEAD - 1n;
    await expect(chain.getBlock(HEAD)).rejects.toMatchObject(disagreement);
    expect((await chain.getHead()).number).toBe(HEAD - 1n);
  });

  test("cannot make a fork's block final, even with a liar on the fork's side [T46]", async () => {
    const fork = (view: View) =>
      createLiar(
        (answer, method) =>
          (method === "getBlock" || method === "getFinalBlock") && Object(answer).number > 0n
            ? { ...Object(answer), hash: ID }
            : answer,
        view,
      );
    // The liar calls the fork's block final; the other node has the block but does not call it final.
    const liar = fork({ head: HEAD, final: FINAL });
    const partitioned = fork({ head: HEAD, final: FINAL - 40n });
    const chain = quorumOf([createHonestNode(), liar, partitioned]);
    await expect(chain.getFinalNumber()).rejects.toMatchObject(disagreement);
  });

  test("disagree, instead of returning null, about two blocks at one height [T48]", async () => {
    const forked = createLiar((answer, method) =>
      method === "getBlock" || method === "getHead" ? { ...Object(answer), hash: ID } : answer,
    );
    const chain = quorumOf([createHonestNode(), forked, createDeadNode()]);
    const error: unknown = await chain.getBlock(HEAD).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject(disagreement);
    const { number, hash, parentHash } = blockAt(HEAD);
    expect(Object(error).cause.message).toBe(
      `node 0: {"number":"${number}","hash":"${hash}","parentHash":"${parentHash}"}; ` +
        `node 1: {"number":"${number}","hash":"${ID}","parentHash":"${parentHash}"}; ` +
        "node 2: no answer (unreachable)",
    );
  });

  test("never move the final block back, nor forward on the word of one [T46]", async () => {
    const views: View[] = [FINAL, FINAL - 5n, FINAL - 5n].map((final) => ({ head: HEAD, final }));
    const chain = quorumOf(views.map((view) => createHonestNode(view)));
    expect(await chain.getFinalNumber()).toBe(FINAL - 5n);
    for (const view of views) view.final = FINAL;
    expect(await chain.getFinalNumber()).toBe(FINAL);
    for (const view of views) view.final = FINAL - 5n;
    expect(await chain.getFinalNumber()).toBe(FINAL);
    expect(await chain.getTime("final")).toBe(1_700_000_000n + FINAL);
  });

  test("call the newest block safe that enough of them do, also an earlier one than before", async () => {
    const views: View[] = [95n, 94n, 93n].map((safe) => ({ head: HEAD, final: FINAL, safe }));
    const chain = quorumOf(views.map(createHonestNode));
    expect((await chain.getSafeBlock()).number).toBe(94n);
    for (const view of views) view.safe = 91n;
    expect((await chain.getSafeBlock()).number).toBe(91n);
  });

  test("follow a reorg at the same height", async () => {
    let hash = blockAt(HEAD).hash;
    const node = (): ChainAtBlocks => {
      const liar = createLiar((answer, method) =>
        method === "getHead" || method === "getBlock" ? { ...Object(answer), hash } : answer,
      );
      // The code exists only in the block with this hash.
      const hasCode: ContractWallets["hasCode"] = async (_, at) => Object(at).hash === ID;
      return { ...liar, wallets: { ...liar.wallets, hasCode } };
    };
    const chain = quorumOf([node(), node(), node()]);
    expect(await chain.wallets.hasCode(WALLET)).toBe(false);
    hash = ID;
    expect((await chain.getHead()).hash).toBe(ID);
    expect(await chain.wallets.hasCode(WALLET)).toBe(true);
  });

  test("are read at the block that the caller names", async () => {
    const chain = quorumOf([createHonestNode(), createHonestNode(), createHonestNode()]);
    expect(await chain.getTime(blockAt(50n))).toBe(1_700_000_000n + 50n);
  });

  test("return null for a block above the seen head until enough have it [T47]", async () => {
    const [early, late]: [View, View] = [
      { head: HEAD - 1n, final: FINAL },
      { head: HEAD - 1n, final: FINAL },
    ];
    const nodes = [createHonestNode(early), createHonestNode(late), createDeadNode()];
    const chain = quorumOf(nodes);
    expect(await chain.getHead()).toEqual(blockAt(HEAD - 1n));
    early.head = HEAD;
    expect(await chain.getBlock(HEAD)).toBeNull();
    // After it was the head, null from a lagging node is a disagreement.
    late.head = HEAD;
    expect(await chain.getHead()).toEqual(blockAt(HEAD));
    late.head = HEAD - 1n;
    await expect(chain.getBlock(HEAD)).rejects.toMatchObject(disagreement);
  });

  test("disagree when they lack the block that they call their newest", async () => {
    const without = (view?: View) =>
      createLiar(
        (answer, method) => (method === "getBlock" && Object(answer).number > 0n ? null : answer),
        view,
      );
    const one = quorumOf([createHonestNode(), without(), createDeadNode()]);
    await expect(one.getBlock(HEAD)).rejects.toMatchObject(disagreement);
    // Their newest blocks differ, so the height that enough have reached is read, and no node has its block.
    const views = [1n, 2n, 3n].map((more) => ({ head: HEAD + more, final: FINAL + more }));
    const none = quorumOf(views.map((view) => without(view)));
    await expect(none.getHead()).rejects.toMatchObject(disagreement);
    await expect(none.getFinalNumber()).rejects.toMatchObject(disagreement);
  });

  test("are not asked again for a block that was final [T46]", async () => {
    const asked: bigint[] = [];
    const view: View = { head: HEAD, final: FINAL };
    const node = (): ChainAtBlocks => {
      const honest = createHonestNode(view);
      return {
        ...createLiar((answer) => answer, view),
        getBlock: (number) => {
          asked.push(number);
          return honest.getBlock(number);
        },
      };
    };
    const chain = quorumOf([node(), node(), node()]);
    expect(await chain.getFinalNumber()).toBe(FINAL);
    asked.length = 0;
    for (const final of [FINAL, FINAL - 1n]) {
      view.final = final;
      expect(await chain.getFinalNumber()).toBe(FINAL);
    }
    expect(asked).toEqual([]);
  });

  test("do not move the final block back when an earlier question is answered later [T46]", async () => {
    const view: View = { head: HEAD, final: FINAL - 5n };
    const answers: (() => void)[] = [];
    const slow = (): ChainAtBlocks => {
      const honest = createHonestNode(view);
      return {
        ...createLiar((answer) => answer, view),
        getFinalBlock: async () => {
          const block = await honest.getFinalBlock();
          if (block.number < FINAL) await new Promise<void>((resolve) => answers.push(resolve));
          return block;
        },
      };
    };
    const chain = quorumOf([slow(), slow(), slow()]);
    const earlier = chain.getFinalNumber();
    await createQuickClock().sleep();
    expect(answers).toHaveLength(3);
    view.final = FINAL;
    expect(await chain.getFinalNumber()).toBe(FINAL);
    for (const answer of answers) answer();
    expect(await earlier).toBe(FINAL);
    expect(await chain.getTime("final")).toBe(1_700_000_000n + FINAL);
  });
});

describe("a node of another chain", () => {
  const elsewhere = () => {
    throw new OperatingError("CONFIG_MISSING", "chain 2: evmChainId differs");
  };

  test("is left out and logged, and does not lower the quorum [T50]", async () => {
    const { log, lines } = createKeepingLog();
    const stranger = { ...createLiar(() => 7n), checkIdentity: async () => elsewhere() };
    const chain = quorumOf([createHonestNode(), stranger, createHonestNode()], { log });
    await expect(chain.checkIdentity()).resolves.toBeUndefined();
    expect(await chain.getBalance(TOKEN, WALLET)).toBe(HEAD * 1_000n);
    expect(lines).toMatchObject([
      { msg: "a node serves another chain and is left out", node: 1, chainId: 2, level: 50 },
    ]);
    const alone = quorumOf([createHonestNode(), stranger, createDeadNode()]);
    await expect(alone.checkIdentity()).rejects.toMatchObject(tooFew);
    await expect(alone.getBalance(TOKEN, WALLET)).rejects.toMatchObject(tooFew);
  });

  test("is a configuration error when too few others are left [T50]", async () => {
    const stranger = { ...createLiar(() => 7n), checkIdentity: async () => elsewhere() };
    const chain = quorumOf([createHonestNode(), stranger, stranger]);
    await expect(chain.checkIdentity()).rejects.toMatchObject({ code: "CONFIG_MISSING" });
  });

  test("is recognized by its first block when id and contracts are equal [T50]", async () => {
    const { log, lines } = createKeepingLog();
    const fork = createLiar((answer, method) =>
      method === "getBlock" ? { ...Object(answer), hash: ID } : method === "getHead" ? answer : 7n,
    );
    const chain = quorumOf([createHonestNode(), createHonestNode(), fork], { log });
    await chain.checkIdentity();
    await createQuickClock().sleep();
    expect(await chain.getBalance(TOKEN, WALLET)).toBe(HEAD * 1_000n);
    expect(lines).toMatchObject([
      {
        msg: "a node serves another chain and is left out",
        node: 2,
        chainId: 2,
        level: 50,
        err: {
          code: "CONFIG_MISSING",
          details: { chainId: 2, reason: "genesis differs", node: 2 },
        },
      },
    ]);
    await expect(quorumOf([createHonestNode(), fork, fork]).checkIdentity()).resolves.toBe(
      undefined,
    );
  });

  test("is noticed after it served the right chain, and counts again once it does [T50]", async () => {
    const clock = createQuickClock();
    let isElsewhere = false;
    const turncoat = {
      ...createLiar((answer, method) => {
        if (!isElsewhere) return answer;
        return method === "getBalance" ? 7n : answer;
      }),
      checkIdentity: async () => (isElsewhere ? elsewhere() : undefined),
    };
    const chain = quorumOf([turncoat, createHonestNode(), createDeadNode()], { clock });
    expect(await chain.getBalance(TOKEN, WALLET)).toBe(HEAD * 1_000n);
    isElsewhere = true;
    await expect(chain.getBalance(TOKEN, WALLET)).rejects.toMatchObject(disagreement);
    clock.advance(300_000);
    await expect(chain.getBalance(TOKEN, WALLET)).rejects.toMatchObject(tooFew);
    isElsewhere = false;
    expect(await chain.getBalance(TOKEN, WALLET)).toBe(HEAD * 1_000n);
  });
});

describe("sending", () => {
  const saying = (outcome: SendOutcome) =>
    createLiar((answer, method) => (method === "send" ? outcome : answer));

  test("passes the bytes to every node", async () => {
    const sent: number[] = [];
    const nodes = [0, 1, 2].map((at) =>
      createLiar((answer, method) => {
        if (method === "send") sent.push(at);
        return answer;
      }),
    );
    expect(await quorumOf(nodes).send("0x01")).toBe("accepted");
    expect(sent).toEqual([0, 1, 2]);
  });

  test.each<[readonly SendOutcome[], SendOutcome]>([
    [["unknown", "unknown", "accepted"], "accepted"],
    [["nonce_too_low", "known", "underpriced"], "known"],
    [["nonce_too_low", "nonce_too_low", "unknown"], "nonce_too_low"],
    [["insufficient_funds", "nonce_too_low", "underpriced"], "unknown"],
    [["unknown", "unknown", "unknown"], "unknown"],
  ])("turns the outcomes %j into %s [T48]", async (outcomes, expected) => {
    expect(await quorumOf(outcomes.map(saying)).send("0x01")).toBe(expected);
  });

  test("has an unknown outcome when every node is dead [T49]", async () => {
    const nodes = [createDeadNode(), createDeadNode(), createDeadNode()];
    expect(await quorumOf(nodes).send("0x01")).toBe("unknown");
  });
});

describe("simulating", () => {
  const saying = (simulation: Simulation) =>
    createLiar((answer, method) => (method === "simulate" ? simulation : answer));
  const ok = (gas: bigint) => saying({ ok: true, gas });
  const reverts = (reason: string) => saying({ ok: false, reason });

  test("ignores one node against two, both on success and on failure [T48]", async () => {
    const yes = quorumOf([reverts("Nothing"), ok(100n), ok(100n)]);
    expect(await yes.simulate(WALLET, CALL)).toEqual({ ok: true, gas: 100n });
    const no = quorumOf([ok(100n), reverts("Nothing"), reverts("Nothing")]);
    expect(await no.simulate(WALLET, CALL)).toEqual({ ok: false, reason: "Nothing" });
  });

  test("reports the reason `reverted` when the nodes' reasons differ", async () => {
    const chain = quorumOf([reverts("Nothing"), reverts("reverted"), createDeadNode()]);
    expect(await chain.simulate(WALLET, CALL)).toEqual({ ok: false, reason: "reverted" });
  });

  test("returns the greatest of the estimates that agree, ignoring an outlier [T48]", async () => {
    for (const wild of [1n, 30_000_000n]) {
      const chain = quorumOf([ok(wild), ok(100_000n), ok(101_500n)]);
      expect(await chain.simulate(WALLET, CALL)).toEqual({ ok: true, gas: 101_500n });
      const alone = quorumOf([ok(wild), ok(100_000n), createDeadNode()]);
      await expect(alone.simulate(WALLET, CALL)).rejects.toMatchObject(disagreement);
    }
  });

  test("accepts estimates up to twice the least and returns the greatest, in any order", async () => {
    for (const [one, other] of [
      [100n, 200n],
      [200n, 100n],
    ] as const) {
      const chain = quorumOf([ok(one), ok(other), createDeadNode()]);
      expect(await chain.simulate(WALLET, CALL)).toEqual({ ok: true, gas: 200n });
      const apart = quorumOf([
        ok(one + (one > other ? 1n : 0n)),
        ok(other + (other > one ? 1n : 0n)),
      ]);
      await expect(apart.simulate(WALLET, CALL)).rejects.toMatchObject(disagreement);
    }
  });

  test("throws a lack of gas only when enough nodes report it", async () => {
    const poor = createLiar((answer, method) => {
      if (method !== "simulate") return answer;
      throw new OperatingError("INSUFFICIENT_BALANCE", "The sender has too little for gas.", {
        details: { reason: "gas", chainId: 2 },
      });
    });
    expect(await quorumOf([poor, ok(100n), ok(100n)]).simulate(WALLET, CALL)).toMatchObject({
      ok: true,
    });
    const { log, lines } = createKeepingLog();
    const chain = quorumOf([poor, ok(100n), poor], { log });
    await expect(chain.simulate(WALLET, CALL)).rejects.toMatchObject({
      code: "INSUFFICIENT_BALANCE",
    });
    await createQuickClock().sleep();
    expect(lines).toEqual([]);
  });
});

describe("listing payees", () => {
  test("unions those that any node traced, and returns null when no node has traces", async () => {
    const without = () =>
      createLiar((answer, method) => (method === "listTracedPayees" ? null : answer));
    const other = createLiar((answer, method) =>
      method === "listTracedPayees" ? [TOKEN] : answer,
    );
    const some = quorumOf([without(), createHonestNode(), other]);
    expect(new Set(await some.balances.listTracedPayees(blockAt(HEAD)))).toEqual(
      new Set([WALLET, TOKEN]),
    );
    expect(
      await quorumOf([without(), without(), without()]).balances.listTracedPayees(blockAt(HEAD)),
    ).toBeNull();
  });

  test("looks up once the payees that all nodes name", async () => {
    let looks = 0;
    const choose = async () => {
      looks += 1;
      return new Set([WALLET]);
    };
    const chain = quorumOf([createHonestNode(), createHonestNode(), createHonestNode()]);
    const section = await chain.readSection({ ...SECTION, choose });
    expect(section?.blocks[0]?.transfers).toMatchObject([
      { to: WALLET, amount: 5n },
      { to: WALLET, amount: 7n },
      { to: WALLET, amount: 9n },
    ]);
    expect(looks).toBe(1);
  });

  test("passes on an error of our own code instead of blaming a node", async () => {
    const chain = quorumOf([createHonestNode(), createHonestNode(), createHonestNode()]);
    const choose = () => Promise.reject(new TypeError("a mistake"));
    await expect(chain.readSection({ ...SECTION, choose })).rejects.toThrow("a mistake");
  });
});
