/** The requests of the scanner, counted by a provider in front of a chain. Operators pay for each. */
import { type Provider, startProvider, startSyntheticChain } from "@sluice/sandbox/provider";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createFollower, issueWallet } from "../../test/support/follower.ts";
import { PACE } from "./scan.ts";
import { type Address, NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";

const TOKEN = toEvmAddress(`0x${"70".repeat(20)}`);
const CHAIN_ID = 31_337;
const HEAD = 10_000;

let database: TestDatabase;
const opened: { close(): Promise<unknown> }[] = [];
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
  await database.drop();
});

async function follow({
  tokens,
  startBlock,
  finalDepth,
  nodes = 1,
  witnesses = 0,
  deposits = [],
}: {
  readonly tokens: readonly Address[];
  readonly startBlock: number;
  readonly finalDepth: number;
  readonly nodes?: number;
  /** Number of the nodes that only confirm. */
  readonly witnesses?: number;
  /** Heights that pay the wallet. */
  readonly deposits?: readonly number[];
}) {
  const { db } = database;
  const wallet = await issueWallet(db);
  const chain = await startSyntheticChain({
    head: HEAD,
    finalDepth,
    tokens: [TOKEN],
    transactionsPerBlock: 4,
    transfersPerBlock: 4,
    chainId: CHAIN_ID,
    deposits: deposits.map((block) => ({ block, to: wallet, token: TOKEN, amount: 5_000_000n })),
  });
  opened.push(chain);
  const providers: Provider[] = [];
  for (let node = 0; node < nodes; node++) {
    const provider = await startProvider({ upstream: chain.url, profile: "geth-like" });
    providers.push(provider);
    opened.push(provider);
  }
  const full = nodes - witnesses;
  const [first, ...others] = providers.slice(0, full).map(({ url }) => url);
  if (first === undefined) throw new Error("expected a node");
  const follower = await createFollower({
    db,
    rpcUrls: [first, ...others],
    witnessUrls: providers.slice(full).map(({ url }) => url),
    required: nodes === 1 ? 1 : 2,
    evmChainId: CHAIN_ID,
    tokens,
    startBlock: BigInt(startBlock),
  });
  async function catchUp(): Promise<void> {
    while ((await follower.height()) < BigInt(chain.head())) await follower.scan();
  }
  return {
    chain,
    follower,
    /** Returns the requests to the node that got most of them. */
    count: () => Math.max(...providers.map((provider) => provider.stats().requests)),
    /** Returns the requests to the full node and to the witness that got most of them. */
    countByRole: () => ({
      full: providers[0]?.stats().requests ?? 0,
      witness: Math.max(...providers.slice(full).map((provider) => provider.stats().requests)),
    }),
    catchUp,
    /** Adds blocks one by one, and scans each before the next. */
    async advance(blocks: number) {
      for (let block = 1; block <= blocks; block++) {
        chain.setHead(HEAD + block);
        await catchUp();
      }
    },
    /** Scans the final blocks that are far enough below the newest final one to be read by range. */
    async scanByRange() {
      while ((await follower.height()) < BigInt(HEAD - 200)) await follower.scan();
    },
  };
}

const WITH_COIN = [TOKEN, NATIVE_TOKEN];

describe.each([
  ["one node", 1],
  ["two of three nodes", 3],
])("through %s", (_what, nodes) => {
  test.each([
    ["tokens", [TOKEN]],
    ["the native coin", WITH_COIN],
  ])(
    "a new block costs at most 2.2 requests with %s, and an idle poll one",
    async (_all, tokens) => {
      const { follower, count, catchUp, advance } = await follow({
        tokens,
        startBlock: HEAD - 5,
        finalDepth: 1_000,
        nodes,
      });
      await catchUp();
      const before = count();
      const blocks = 60;
      await advance(blocks);
      expect((count() - before) / blocks).toBeLessThanOrEqual(2.2);
      const idle = count();
      for (let poll = 0; poll < 9; poll++) expect(await follower.scan()).toBe(false);
      expect(count() - idle).toBe(9);
    },
  );

  test("a final block costs at most 0.05 requests without the native coin", async () => {
    const { follower, count, catchUp, scanByRange } = await follow({
      tokens: [TOKEN],
      startBlock: HEAD - 6_000,
      finalDepth: 10,
      nodes,
      deposits: [HEAD - 5_999, HEAD - 3_000],
    });
    await scanByRange();
    expect(count() / follower.heights()).toBeLessThanOrEqual(0.05);
    await catchUp();
    expect(await follower.deposits()).toEqual([
      [BigInt(HEAD - 5_999), 5_000_000n],
      [BigInt(HEAD - 3_000), 5_000_000n],
    ]);
  });

  test("a final block costs at most 1.05 requests with the native coin", async () => {
    const blocks = 2_000;
    const { count, catchUp } = await follow({
      tokens: WITH_COIN,
      startBlock: HEAD - blocks + 1,
      finalDepth: 10,
      nodes,
    });
    await catchUp();
    // Those that are not final, or not far enough below the newest final one, are read like new ones.
    const newest = 10 + Number(PACE.finalMargin) + PACE.blocksMax;
    expect(count()).toBeLessThanOrEqual(1.05 * (blocks - newest) + 2.2 * newest);
  });
});

describe("through one full node and two witnesses", () => {
  const WITNESSED = { nodes: 3, witnesses: 2 } as const;

  test.each([
    ["tokens", [TOKEN]],
    ["the native coin", WITH_COIN],
  ])(
    "a new block costs the full node at most 2.2 requests with %s and a witness 1.2, an idle poll none of a witness",
    async (_all, tokens) => {
      const { follower, countByRole, catchUp, advance } = await follow({
        tokens,
        startBlock: HEAD - 5,
        finalDepth: 1_000,
        ...WITNESSED,
      });
      await catchUp();
      const before = countByRole();
      const blocks = 60;
      await advance(blocks);
      const after = countByRole();
      expect((after.full - before.full) / blocks).toBeLessThanOrEqual(2.2);
      expect((after.witness - before.witness) / blocks).toBeLessThanOrEqual(1.2);
      for (let poll = 0; poll < 9; poll++) expect(await follower.scan()).toBe(false);
      expect(countByRole()).toEqual({ full: after.full + 9, witness: after.witness });
    },
  );

  test("final blocks cost at most 0.05 requests of the full node and 0.02 of a witness", async () => {
    const deposits = [HEAD - 5_999, HEAD - 3_000];
    const { follower, countByRole, catchUp, scanByRange } = await follow({
      tokens: [TOKEN],
      startBlock: HEAD - 6_000,
      finalDepth: 10,
      deposits,
      ...WITNESSED,
    });
    await scanByRange();
    const { full, witness } = countByRole();
    expect(full / follower.heights()).toBeLessThanOrEqual(0.05);
    expect(witness / follower.heights()).toBeLessThanOrEqual(0.02);
    await catchUp();
    expect(await follower.deposits()).toEqual(
      deposits.map((height) => [BigInt(height), 5_000_000n]),
    );
  });

  test("a deposit costs a witness one request more than a block without", async () => {
    const { chain, follower, countByRole, catchUp } = await follow({
      tokens: [TOKEN],
      startBlock: HEAD - 5,
      finalDepth: 1_000,
      deposits: [HEAD + 1],
      ...WITNESSED,
    });
    await catchUp();
    const before = countByRole().witness;
    chain.setHead(HEAD + 1);
    await catchUp();
    const paid = countByRole().witness;
    chain.setHead(HEAD + 2);
    await catchUp();
    expect([paid - before, countByRole().witness - paid]).toEqual([2, 1]);
    expect(await follower.deposits()).toEqual([[BigInt(HEAD + 1), 5_000_000n]]);
  });
});

test("a deposit is known to be final soon after its chain says so, for a request or two", async () => {
  const finalDepth = 5;
  const paidAt = HEAD + 2;
  const options = { tokens: [TOKEN], startBlock: HEAD - 2, finalDepth };
  const { follower, catchUp, advance, count } = await follow({ ...options, deposits: [paidAt] });
  await catchUp();
  const read = async () =>
    (await database.db.selectFrom("scanner_finality").select("number").execute())[0]?.number;
  await advance(2 * finalDepth + 4);
  expect(await read()).toBeGreaterThanOrEqual(BigInt(paidAt));
  expect(await follower.height()).toBe(BigInt(HEAD + 2 * finalDepth + 4));
  // Nothing waits any more, so that ten more blocks cost only their own requests.
  const before = count();
  await advance(2 * finalDepth + 14);
  expect(count() - before).toBeLessThanOrEqual(22);
});
