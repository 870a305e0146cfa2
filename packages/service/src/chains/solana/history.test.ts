/** Searches through histories full of spam, over as many calls as they need. */
import { describe, expect, test } from "vitest";
import { OperatingError } from "../../core/errors.ts";
import { NATIVE_SOL } from "../../core/hex.ts";
import type { HistoryEntry, TransactionAnswer } from "./answers.ts";
import { CALLS_MAX, createHistorySearch, type Search } from "./history.ts";
import { HISTORY_PAGE, type SolanaNode } from "./node.ts";

/** Creates a node with one growing history for every account. */
function createNode() {
  /** Oldest first. */
  const entries: HistoryEntry[] = [];
  const calls = { pages: 0, transactions: 0 };
  const add = (name: string, memo: string | null) =>
    entries.push({
      signature: `${name} ${entries.length}`,
      slot: BigInt(entries.length),
      succeeded: true,
      memo,
    });
  const known: Partial<SolanaNode> = {
    chainId: 1,
    async listHistory(_account, { before }) {
      calls.pages += 1;
      const newestFirst = entries.toReversed();
      const from = newestFirst.findIndex(({ signature }) => signature === before) + 1;
      return newestFirst.slice(from, from + HISTORY_PAGE);
    },
    async getTransaction(signature) {
      calls.transactions += 1;
      const entry = entries.find((one) => one.signature === signature);
      // CAST: what a search hands on is of no interest to it.
      return entry ? ({ signature, slot: entry.slot } as TransactionAnswer) : null;
    },
  };
  // CAST: nothing else is asked of it.
  return { node: known as SolanaNode, add, calls };
}

const TOO_LONG = {
  code: "RPC_UNAVAILABLE",
  details: { reason: "history too long, searched in parts" },
};
const isTooLong = (error: unknown) =>
  error instanceof OperatingError && error.details?.["reason"] === TOO_LONG.details.reason;
const nameOf = ({ signature }: TransactionAnswer) => signature.split(" ")[0];
const forHits = (fields: Partial<Search> = {}): Search => ({
  name: "hits",
  account: NATIVE_SOL,
  minSlot: 0n,
  text: "id",
  isHit: (transaction) => nameOf(transaction) !== "spam",
  isEnough: (hits) => hits.some((hit) => nameOf(hit) === "lock"),
  ...fields,
});

/** Searches until there is an answer, and counts the searches. */
async function searchOn(node: SolanaNode, search: Search, between = () => {}) {
  const searchHistory = createHistorySearch();
  for (let searches = 1; searches < 100; searches += 1) {
    try {
      return { searches, names: (await searchHistory(node, search)).map(nameOf) };
    } catch (error) {
      if (!isTooLong(error)) throw error;
      between();
    }
  }
  throw new Error("it never ends");
}

describe("a history", () => {
  test("of a few transactions is read in one search, newest first", async () => {
    const { node, add } = createNode();
    for (const name of ["old", "lock", "spam", "claim"]) add(name, "the id");
    expect(await searchOn(node, forHits())).toEqual({ searches: 1, names: ["claim", "lock"] });
  });

  test("full of spam with the id is searched in parts of bounded length", async () => {
    const { node, add, calls } = createNode();
    add("lock", "the id");
    for (let index = 0; index < 10 * CALLS_MAX; index += 1) add("spam", "the id");
    add("claim", "the id");
    const before = { ...calls };
    const searchHistory = createHistorySearch();
    await expect(searchHistory(node, forHits())).rejects.toMatchObject(TOO_LONG);
    expect(calls.pages + calls.transactions - before.pages - before.transactions).toBe(CALLS_MAX);
    const { searches, names } = await searchOn(node, forHits());
    expect(names).toEqual(["claim", "lock"]);
    expect(searches).toBeGreaterThan(10);
  });

  test("that grows during the search is searched completely, and each part once", async () => {
    const { node, add, calls } = createNode();
    add("lock", "the id");
    for (let index = 0; index < 3 * CALLS_MAX; index += 1) add("spam", "the id");
    let rounds = 0;
    const { names } = await searchOn(node, forHits(), () => {
      rounds += 1;
      if (rounds === 2) add("claim", "the id");
      for (let index = 0; index < CALLS_MAX / 3; index += 1) add("spam", "the id");
    });
    expect(names).toEqual(["claim", "lock"]);
    // Each transaction is read only once.
    expect(calls.transactions).toBeLessThanOrEqual(3 * CALLS_MAX + 2 + rounds * (CALLS_MAX / 3));
  });

  test("of more pages than one search reads is finished by the next search", async () => {
    const { node, add } = createNode();
    add("lock", "the id");
    for (let index = 0; index < HISTORY_PAGE * (CALLS_MAX + 5); index += 1) add("spam", null);
    expect(await searchOn(node, forHits())).toEqual({ searches: 2, names: ["lock"] });
  });

  test("without a match returns nothing, and is searched again after a new transaction", async () => {
    const { node, add } = createNode();
    for (let index = 0; index < 2 * CALLS_MAX; index += 1) add("spam", "the id");
    const searchHistory = createHistorySearch();
    const search = async () => (await searchHistory(node, forHits())).map(nameOf);
    await expect(search()).rejects.toMatchObject(TOO_LONG);
    await expect(search()).rejects.toMatchObject(TOO_LONG);
    expect(await search()).toEqual([]);
    add("lock", "the id");
    expect(await search()).toEqual(["lock"]);
  });

  test("is not searched before the given slot", async () => {
    const { node, add } = createNode();
    for (const name of ["old", "spam", "spam", "claim"]) add(name, "the id");
    const isEnough = () => false;
    expect((await searchOn(node, forHits({ fromSlot: 1n, isEnough }))).names).toEqual(["claim"]);
    expect((await searchOn(node, forHits({ fromSlot: 0n, isEnough }))).names).toEqual([
      "claim",
      "old",
    ]);
  });
});
