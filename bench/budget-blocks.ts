/** Counts the scanner's requests at the pace of each chain, through a provider in front of a synthetic chain. */
import { startProvider, startSyntheticChain } from "@sluice/sandbox/provider";
import { NATIVE_TOKEN, toEvmAddress } from "../packages/service/src/core/hex.ts";
import { migrateToLatest } from "../packages/service/src/db/migrate.ts";
import { openDatabase } from "../packages/service/src/db/pool.ts";
import { createFollower, issueWallet } from "../packages/service/test/support/follower.ts";
import type { startThrowawayServer } from "../packages/service/test/support/throwaway-server.ts";

const TOKEN = toEvmAddress(`0x${"70".repeat(20)}`);
const HEAD = 1_000_000;
/** Share of the transfers that are of listed tokens. */
const LISTED_SHARE = 0.3;

export type ByMethod = Readonly<Record<string, number>>;

/** A chain's nominal pace, and the interval of its preset. */
export interface Pace {
  readonly blockSeconds: number;
  readonly pollMs: number;
}

export interface Followed extends Pace {
  readonly hasCoin: boolean;
  readonly blocks: number;
  readonly byMethod: ByMethod;
  readonly bytes: number;
}

/** Follows one chain. A slow one is followed in fast motion: block time and interval are shortened alike. */
export async function followAtPace(
  server: Awaited<ReturnType<typeof startThrowawayServer>>,
  { pace, hasCoin, seconds }: { pace: Pace; hasCoin: boolean; seconds: number },
): Promise<Followed> {
  const haste = Math.max(1, pace.blockSeconds);
  const database = `budget_${pace.blockSeconds}_${pace.pollMs}_${hasCoin}`.replaceAll(".", "_");
  const admin = await openDatabase(server.address, { max: 1 });
  await admin.pool.query(`create database ${database}`);
  await admin.close();
  const open = await openDatabase({ ...server.address, database }, { max: 4 });
  const chain = await startSyntheticChain({
    head: HEAD,
    blocksPerSecond: haste / pace.blockSeconds,
    finalDepth: 400,
    tokens: [TOKEN],
    listedShare: LISTED_SHARE,
  });
  const provider = await startProvider({ upstream: chain.url, profile: "geth-like" });
  try {
    await migrateToLatest(open.db);
    await issueWallet(open.db);
    const follower = await createFollower({
      db: open.db,
      rpcUrls: [provider.url],
      evmChainId: 31_337,
      tokens: hasCoin ? [TOKEN, NATIVE_TOKEN] : [TOKEN],
      startBlock: BigInt(chain.head()),
    });
    while (await scanSafely(follower)) {
      // Reads up to the head first.
    }
    const before = { ...provider.stats(), blocks: follower.heights() };
    const endMs = performance.now() + seconds * 1_000;
    while (performance.now() < endMs) {
      while (await scanSafely(follower)) {
        // Reads on at once.
      }
      await new Promise((resolve) => setTimeout(resolve, pace.pollMs / haste));
    }
    const after = provider.stats();
    return {
      ...pace,
      hasCoin,
      blocks: follower.heights() - before.blocks,
      byMethod: subtract(after.byMethod, before.byMethod),
      bytes: after.bytesOut - before.bytesOut,
    };
  } finally {
    await provider.close();
    await chain.close();
    await open.close();
  }
}

/** Scans as the loop of the role does: a poll that fails is repeated after the interval. */
async function scanSafely(follower: Awaited<ReturnType<typeof createFollower>>): Promise<boolean> {
  try {
    return await follower.scan();
  } catch (error) {
    console.error(`a poll failed: ${String(error)}`);
    return false;
  }
}

/** Subtracts counts, method by method. */
export function subtract(all: ByMethod, some: ByMethod): ByMethod {
  return Object.fromEntries(
    Object.entries(all).flatMap(([method, count]) => {
      const rest = count - (some[method] ?? 0);
      return rest === 0 ? [] : [[method, rest]];
    }),
  );
}
