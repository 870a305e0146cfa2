/**
 * Measures how fast the scanner catches up through a provider with latency: blocks per second, requests and bytes per block.
 * Chain and provider run in processes of their own.
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
/** Interval of the polls. */
const POLL_MS = 500;

interface Scenario {
  readonly name: string;
  /** Blocks to read from the start to the head. */
  readonly blocks: number;
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
];

interface Measured {
  readonly name: string;
  readonly blocks: number;
  readonly seconds: number;
  /** Processor time of the scanner. */
  readonly cpuMs: number;
  readonly requests: number;
  readonly bytes: number;
  /** Of the first node. */
  readonly byMethod: Readonly<Record<string, number>>;
  readonly refusals: Readonly<Record<string, number>>;
}

export async function benchRpc(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      latency: { type: "string", default: "80" },
      only: { type: "string", default: "" },
      methods: { type: "boolean", default: false },
    },
  });
  const latencyMs = Number(values.latency);
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
        rows.push(await measure(open.db, scenario, latencyMs));
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

async function measure(db: Db, scenario: Scenario, latencyMs: number): Promise<Measured> {
  const { blocks, finalDepth, hasCoin, nodes, listedShare } = scenario;
  const wallet = await issueWallet(db);
  const every = Math.max(50, Math.floor(blocks / 8));
  const chain = await spawnSyntheticChain({
    head: HEAD,
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
    const start = process.cpuUsage();
    await catchUp(follower, BigInt(HEAD));
    const { user, system } = process.cpuUsage(start);
    const elapsed = (performance.now() - startMs) / 1_000;
    const stats = await Promise.all(providers.map((provider) => provider.stats()));
    const requests = Math.max(...stats.map((one) => one.requests));
    const bytes = Math.max(...stats.map((one) => one.bytesOut));
    return {
      name: scenario.name,
      blocks: follower.heights(),
      seconds: elapsed,
      cpuMs: (user + system) / 1_000,
      requests,
      bytes,
      byMethod: stats[0]?.byMethod ?? {},
      refusals: stats[0]?.refusals ?? {},
    };
  } finally {
    for (const provider of providers) await provider.close();
    await chain.close();
  }
}

type Follower = Awaited<ReturnType<typeof createFollower>>;

async function catchUp(follower: Follower, head: bigint): Promise<void> {
  while ((await follower.height()) < head) {
    try {
      await follower.scan();
    } catch (error) {
      // The loop of the role also polls again after its interval.
      console.error(`a poll failed: ${String(error)}`, error instanceof Error ? error.cause : "");
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

function print(rows: readonly Measured[], latencyMs: number): void {
  console.log(`blocks of 150 transactions and 300 token transfers, ${latencyMs} ms to each node\n`);
  const heads = ["", "blocks", "blocks/s", "CPU ms/block", "requests/block", "kB/block"];
  const table = rows.map((row) => [
    row.name,
    String(row.blocks),
    (row.blocks / row.seconds).toFixed(1),
    (row.cpuMs / row.blocks).toFixed(1),
    (row.requests / row.blocks).toFixed(3),
    (row.bytes / row.blocks / 1_000).toFixed(1),
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
