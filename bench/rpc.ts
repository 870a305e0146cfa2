/**
 * Measures the scanner through a provider with latency: blocks per second, requests and bytes per block, and how far it is
 * behind a chain of a given pace. Chain and provider run in processes of their own.
 */
import { parseArgs } from "node:util";
import { type RemoteProvider, spawnProvider, spawnSyntheticChain } from "@sluice/sandbox/provider";
import { NATIVE_TOKEN, toEvmAddress } from "../packages/service/src/core/hex.ts";
import { migrateToLatest } from "../packages/service/src/db/migrate.ts";
import { openDatabase } from "../packages/service/src/db/pool.ts";
import { createFollower, issueWallet } from "../packages/service/test/support/follower.ts";
import { startThrowawayServer } from "../packages/service/test/support/throwaway-server.ts";

const TOKEN = toEvmAddress(`0x${"70".repeat(20)}`);
const EVM_CHAIN_ID = 31_337;
const HEAD = 1_000_000;
/** Interval of polls on a chain that is followed. */
const POLL_MS = 500;

interface Scenario {
  readonly name: string;
  /** Blocks to read from the start to the head; a paced chain is followed for `seconds` instead. */
  readonly blocks: number;
  readonly blocksPerSecond?: number;
  /** Blocks below the head that are not final. */
  readonly finalDepth: number;
  readonly hasCoin: boolean;
  readonly nodes: number;
  /** Share of the token transfers that are of a listed token. */
  readonly listedShare: number;
}

function scenario(name: string, given: Partial<Scenario>): Scenario {
  const usual = { blocks: 0, finalDepth: 100_000, hasCoin: true, nodes: 1, listedShare: 1 };
  return { name, ...usual, ...given };
}

const SCENARIOS: readonly Scenario[] = [
  scenario("new blocks, coin and tokens", { blocks: 600 }),
  scenario("new blocks, tokens", { blocks: 600, hasCoin: false }),
  scenario("new blocks, coin and tokens, 2 of 3", { blocks: 300, nodes: 3 }),
  scenario("final blocks, coin and tokens", { blocks: 600, finalDepth: 0 }),
  scenario("final blocks, tokens", {
    blocks: 20_000,
    finalDepth: 0,
    hasCoin: false,
    listedShare: 0.02,
  }),
  scenario("final blocks, tokens, 2 of 3", {
    blocks: 20_000,
    finalDepth: 0,
    hasCoin: false,
    listedShare: 0.02,
    nodes: 3,
  }),
  scenario("4 blocks/s, coin and tokens", { blocksPerSecond: 4, finalDepth: 3_600 }),
  scenario("4 blocks/s, tokens", { blocksPerSecond: 4, finalDepth: 3_600, hasCoin: false }),
  scenario("2.2 blocks/s, coin and tokens", { blocksPerSecond: 2.2, finalDepth: 5 }),
  scenario("4 blocks/s, coin and tokens, 2 of 3", {
    blocksPerSecond: 4,
    finalDepth: 3_600,
    nodes: 3,
  }),
];

interface Measured {
  readonly name: string;
  readonly blocks: number;
  readonly seconds: number;
  readonly requests: number;
  readonly bytes: number;
  /** Of the first node. */
  readonly byMethod: Readonly<Record<string, number>>;
  readonly refusals: Readonly<Record<string, number>>;
  /** Of a followed chain: the greatest lag, in seconds, and the growth of memory in the second half, in MiB. */
  readonly lagS?: number;
  readonly grownMiB?: number;
}

export async function benchRpc(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      latency: { type: "string", default: "80" },
      seconds: { type: "string", default: "60" },
      only: { type: "string", default: "" },
      methods: { type: "boolean", default: false },
    },
  });
  const [latencyMs, seconds] = [Number(values.latency), Number(values.seconds)];
  const server = await startThrowawayServer("sluice-bench");
  const admin = await openDatabase(server.address, { max: 1 });
  const rows: Measured[] = [];
  try {
    for (const [index, scenario] of SCENARIOS.entries()) {
      if (!scenario.name.includes(values.only)) continue;
      const database = `bench_${index}`;
      await admin.pool.query(`create database ${database}`);
      const open = await openDatabase({ ...server.address, database }, { max: 8 });
      try {
        await migrateToLatest(open.db);
        rows.push(await measure(open.db, scenario, { latencyMs, seconds }));
      } finally {
        await open.close();
      }
    }
  } finally {
    await admin.close();
    await server.stop();
  }
  print(rows, latencyMs);
  if (!values.methods) return;
  for (const { name, byMethod, refusals } of rows) console.log(name, byMethod, refusals);
}

type Db = Parameters<typeof issueWallet>[0];

async function measure(
  db: Db,
  scenario: Scenario,
  { latencyMs, seconds }: { latencyMs: number; seconds: number },
): Promise<Measured> {
  const { blocks, blocksPerSecond = 0, finalDepth, hasCoin, nodes, listedShare } = scenario;
  const wallet = await issueWallet(db);
  const every = Math.max(50, Math.floor(blocks / 8));
  const chain = await spawnSyntheticChain({
    head: HEAD,
    blocksPerSecond,
    finalDepth,
    tokens: [TOKEN],
    listedShare,
    chainId: EVM_CHAIN_ID,
    deposits: Array.from({ length: 8 }, (_, index) => ({
      block: HEAD - blocks + 1 + index * every,
      to: wallet,
      token: TOKEN,
      amount: 5_000_000n,
    })),
  });
  const providers: RemoteProvider[] = [];
  try {
    for (let node = 0; node < nodes; node++) {
      providers.push(await spawnProvider({ upstream: chain.url, profile: "geth-like", latencyMs }));
    }
    const [first, ...others] = providers.map(({ url }) => url);
    if (first === undefined) throw new Error("expected a node");
    const follower = await createFollower({
      db,
      rpcUrls: [first, ...others],
      required: nodes === 1 ? 1 : 2,
      evmChainId: EVM_CHAIN_ID,
      tokens: hasCoin ? [TOKEN, NATIVE_TOKEN] : [TOKEN],
      startBlock: BigInt(HEAD - blocks + 1),
    });
    const startMs = performance.now();
    const followed =
      blocksPerSecond > 0
        ? await followFor(follower, scenario, seconds)
        : await catchUp(follower, BigInt(HEAD));
    const elapsed = (performance.now() - startMs) / 1_000;
    const stats = await Promise.all(providers.map((provider) => provider.stats()));
    const requests = Math.max(...stats.map((one) => one.requests));
    const bytes = Math.max(...stats.map((one) => one.bytesOut));
    return {
      name: scenario.name,
      blocks: follower.heights(),
      seconds: elapsed,
      requests,
      bytes,
      byMethod: stats[0]?.byMethod ?? {},
      refusals: stats[0]?.refusals ?? {},
      ...followed,
    };
  } finally {
    for (const provider of providers) await provider.close();
    await chain.close();
  }
}

type Follower = Awaited<ReturnType<typeof createFollower>>;

async function catchUp(follower: Follower, head: bigint): Promise<object> {
  while ((await follower.height()) < head) await pollSafely(follower);
  return {};
}

/** Polls as the loop of the role does: a poll that fails is repeated after the interval. */
async function pollSafely(follower: Follower): Promise<boolean> {
  try {
    return await follower.scan();
  } catch (error) {
    console.error(`a poll failed: ${String(error)}`, error instanceof Error ? error.cause : "");
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    return false;
  }
}

/** Polls as the role does, and measures once a second how far it is behind. */
async function followFor(
  follower: Follower,
  { blocksPerSecond = 1 }: Scenario,
  seconds: number,
): Promise<Pick<Measured, "lagS" | "grownMiB">> {
  const startMs = performance.now();
  let lagS = 0;
  let halfMiB: number | undefined;
  const elapsed = () => (performance.now() - startMs) / 1_000;
  const usedMiB = () => {
    globalThis.gc?.();
    return process.memoryUsage().rss / 2 ** 20;
  };
  while (elapsed() < seconds) {
    while (await pollSafely(follower)) {
      // Reads on at once.
    }
    const behind = HEAD + Math.floor(elapsed() * blocksPerSecond) - Number(await follower.height());
    if (elapsed() > 5) lagS = Math.max(lagS, behind / blocksPerSecond);
    if (elapsed() > seconds / 2) halfMiB ??= usedMiB();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return { lagS, grownMiB: usedMiB() - (halfMiB ?? usedMiB()) };
}

function print(rows: readonly Measured[], latencyMs: number): void {
  console.log(`blocks of 150 transactions and 300 token transfers, ${latencyMs} ms to each node\n`);
  const heads = ["", "blocks", "blocks/s", "requests/block", "kB/block", "lag s", "MiB grown"];
  const table = rows.map((row) => [
    row.name,
    String(row.blocks),
    (row.blocks / row.seconds).toFixed(1),
    (row.requests / row.blocks).toFixed(3),
    (row.bytes / row.blocks / 1_000).toFixed(1),
    row.lagS?.toFixed(1) ?? "",
    row.grownMiB?.toFixed(0) ?? "",
  ]);
  const widths = heads.map((head, at) =>
    Math.max(head.length, ...table.map((cells) => cells[at]?.length ?? 0)),
  );
  for (const cells of [heads, ...table]) {
    console.log(
      cells
        .map((cell, at) =>
          at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
        )
        .join("  "),
    );
  }
}
