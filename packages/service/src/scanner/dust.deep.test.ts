/** A flood of dust: one block that pays a little to thousands of deposit addresses, behind a provider with latency. */
import {
  type Provider,
  type ProviderOverrides,
  startProvider,
  startSyntheticChain,
} from "@sluice/sandbox/provider";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createFollower, issueWallets } from "../../test/support/follower.ts";
import { toEvmAddress } from "../core/hex.ts";

const TOKEN = toEvmAddress(`0x${"70".repeat(20)}`);
const CHAIN_ID = 31_337;
const HEAD = 10_000;
const BLOCK = HEAD - 10;
const LATENCY_MS = 80;
const MINIMUM = 1_000n;

let database: TestDatabase;
const opened: { close(): Promise<unknown> }[] = [];
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close();
  await database.drop();
});

/** Opens a scanner just below a block with one transfer to each of some addresses. */
async function flood(
  wallets: number,
  {
    nodes = 1,
    each = 1,
    limits = { latencyMs: LATENCY_MS },
  }: { nodes?: number; each?: number; limits?: ProviderOverrides } = {},
) {
  const { db } = database;
  const owned = await issueWallets(db, wallets);
  const chain = await startSyntheticChain({
    head: HEAD,
    finalDepth: 64,
    tokens: [TOKEN],
    transactionsPerBlock: 4,
    transfersPerBlock: 4,
    chainId: CHAIN_ID,
    deposits: owned.flatMap((to) =>
      Array.from({ length: each }, () => ({ block: BLOCK, to, token: TOKEN, amount: 9n })),
    ),
  });
  opened.push(chain);
  const providers: Provider[] = [];
  for (let node = 0; node < nodes; node++) {
    const provider = await startProvider({ upstream: chain.url, ...limits });
    providers.push(provider);
    opened.push(provider);
  }
  const [first, ...others] = providers.map(({ url }) => url);
  if (first === undefined) throw new Error("expected a node");
  const follower = await createFollower({
    db,
    rpcUrls: [first, ...others],
    evmChainId: CHAIN_ID,
    tokens: [TOKEN],
    startBlock: BigInt(BLOCK - 1),
    tokenMinimum: MINIMUM,
  });
  return { db, provider: providers[0], follower };
}

describe("a block with dust for 5,000 wallets", () => {
  test.each([1, 3])("passes within seconds at 80 ms through %i nodes [T144]", async (nodes) => {
    const { db, provider, follower } = await flood(5_000, { nodes });
    const startMs = performance.now();
    while ((await follower.height()) < BigInt(BLOCK)) await follower.scan();
    const elapsedMs = performance.now() - startMs;
    const deposits = await sql`select count(*)::int as deposits,
      count(distinct wallet)::int as wallets,
      count(*) filter (where ignored_reason = 'below_token_min')::int as ignored
      from deposits`.execute(db);
    expect(deposits.rows).toEqual([{ deposits: 5_000, wallets: 5_000, ignored: 5_000 }]);
    const events = await sql`select count(*)::int as events from events`.execute(db);
    expect(events.rows).toEqual([{ events: 5_000 }]);
    const posted = sql`select count(distinct posting)::int as postings from ledger_lines`;
    expect((await posted.execute(db)).rows).toEqual([{ postings: 5_000 }]);
    // 5,000 requests in series would take 400 s; a busy machine takes several times the 2 s of an idle one.
    expect(elapsedMs).toBeLessThan(15_000);
    expect(provider?.stats().requests).toBeLessThan(60);
  });
});

test("a block with 30,000 dust transfers is read behind a provider that gives 10,000 logs [T131]", async () => {
  const { db, provider, follower } = await flood(1_000, { each: 30, limits: { results: 10_000 } });
  while ((await follower.height()) < BigInt(BLOCK)) await follower.scan();
  const deposits = await sql`select count(*)::int as deposits, sum(amount)::int as amount
    from deposits`.execute(db);
  expect(deposits.rows).toEqual([{ deposits: 30_000, amount: 270_000 }]);
  expect(Object.keys(provider?.stats().refusals ?? {})).toEqual(["infura.results-bare"]);
});
