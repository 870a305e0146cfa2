/**
 * Mines a chain whose node does not mine by itself: a block per interval while a transaction waits or a block with
 * transactions is not final yet, and now and then when idle, because nodes get slower with height. It lives in the
 * launcher; when that dies no block is made until the next start.
 *
 * Blocks carry the wall clock; several within one second carry the same stamp.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { FINALITY_BLOCKS } from "./chain-specs.ts";
import type { EvmClient } from "./evm-client.ts";

/** How often blocks are made. */
export interface MiningOptions {
  /** Between blocks while something waits, in milliseconds. Default 1000. */
  readonly intervalMs?: number;
  /** Between blocks while nothing does, in milliseconds. Default 15000. */
  readonly idleIntervalMs?: number;
}

/** What a driver tells. */
export interface MiningListener {
  /** The head moved, whoever moved it. A block of the driver's own is told at once. */
  readonly onHead?: (block: bigint) => void;
  /** The node failed; told once until it answers again. */
  readonly onProblem?: (error: unknown) => void;
}

/** A running driver. */
export interface MiningDriver {
  /** Ends it; resolves when its last request is done. */
  stop(): Promise<void>;
}

/** One block more than finality needs, for readers that want the block strictly below the final one. */
const QUIET_AFTER_BLOCKS = BigInt(FINALITY_BLOCKS + 1);

/** Starts mining. */
export function startMining(
  client: EvmClient,
  { intervalMs = 1_000, idleIntervalMs = 15_000 }: MiningOptions,
  listener: MiningListener = {},
): MiningDriver {
  const stopping = new AbortController();
  const tick = createTick(client, idleIntervalMs, listener);

  const run = async (): Promise<void> => {
    let failing = false;
    let nextAt = performance.now();
    while (!stopping.signal.aborted) {
      try {
        await tick();
        failing = false;
      } catch (error) {
        if (!failing && !stopping.signal.aborted) listener.onProblem?.(error);
        failing = true;
      }
      nextAt = Math.max(nextAt + intervalMs, performance.now());
      await pause(Math.max(0, nextAt - performance.now()), stopping.signal);
    }
  };
  const done = run();
  return {
    stop: async () => {
      stopping.abort();
      await done;
    },
  };
}

/** Makes blocks at once. */
export async function mineBlocks(client: EvmClient, blocks: number): Promise<void> {
  await client.mine({ blocks });
}

function createTick(client: EvmClient, idleIntervalMs: number, listener: MiningListener) {
  let seen: bigint | undefined;
  /** Blocks are made at full pace up to this height. */
  let busyUntil = 0n;
  let movedAt = performance.now();

  return async (): Promise<void> => {
    const [head, pool] = await Promise.all([client.getBlockNumber(), client.getTxpoolStatus()]);
    if (head !== seen) {
      const filled = await findLastFilled(client, head, seen);
      if (filled !== undefined) busyUntil = filled + QUIET_AFTER_BLOCKS;
      if (seen !== undefined) movedAt = performance.now();
      seen = head;
      listener.onHead?.(head);
    }
    const isIdle = performance.now() - movedAt >= idleIntervalMs;
    if (pool.pending === 0 && head >= busyUntil && !isIdle) return;
    await client.mine({ blocks: 1 });
    listener.onHead?.(head + 1n);
  };
}

/** The newest block with transactions among those not yet looked at that may still matter. */
async function findLastFilled(
  client: EvmClient,
  head: bigint,
  seen: bigint | undefined,
): Promise<bigint | undefined> {
  const oldest = head - QUIET_AFTER_BLOCKS;
  const after = seen !== undefined && seen < head && seen > oldest ? seen : oldest;
  for (let block = head; block > after && block >= 0n; block -= 1n) {
    if ((await client.getBlockTransactionCount({ blockNumber: block })) > 0) return block;
  }
  return undefined;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
