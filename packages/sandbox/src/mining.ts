/**
 * Mines a chain whose node does not mine automatically: one block per interval while a transaction is pending or a block
 * with transactions is not final, and one per longer interval when idle, because nodes get slower with height. It runs
 * in the launcher; without the launcher no blocks are mined.
 *
 * Block timestamps are the wall clock; several blocks within one second have the same timestamp.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { FINALITY_BLOCKS } from "./chain-specs.ts";
import type { EvmClient } from "./evm-client.ts";

/** How often blocks are mined. */
export interface MiningOptions {
  /** Block interval while busy, in milliseconds. Default 500, of `startSandbox` 250. */
  readonly intervalMs?: number;
  /** Block interval while idle, in milliseconds. Default 15000. */
  readonly idleIntervalMs?: number;
}

/** Callbacks of a driver. */
interface MiningListener {
  /** Called with every new head, also one that the driver did not mine. */
  readonly onHead?: (block: bigint) => void;
  /** Called once when the node fails, until it responds again. */
  readonly onProblem?: (error: unknown) => void;
}

/** A running driver. */
export interface MiningDriver {
  /** Runs work while no block is mined. Other work of this kind waits for its end. */
  hold<T>(work: () => Promise<T>): Promise<T>;
  /** Stops mining. Resolves when the last request is done. */
  stop(): Promise<void>;
}

/** Empty blocks mined after a block with transactions: one more than finality needs, so that it is below the final one. */
const BUSY_BLOCKS = BigInt(FINALITY_BLOCKS + 1);

/** Starts mining. */
export function startMining(
  client: EvmClient,
  { intervalMs = 500, idleIntervalMs = 15_000 }: MiningOptions,
  listener: MiningListener = {},
): MiningDriver {
  const stopping = new AbortController();
  const tick = createTick(client, idleIntervalMs, listener);
  /** The last tick or held work; each waits for the one before. */
  let turn: Promise<unknown> = Promise.resolve();
  const takeTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const done = turn.then(work, work);
    turn = done;
    return done;
  };

  const run = async (): Promise<void> => {
    let failing = false;
    let nextAt = performance.now();
    while (!stopping.signal.aborted) {
      try {
        await takeTurn(tick);
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
    hold: takeTurn,
    stop: async () => {
      stopping.abort();
      await done;
    },
  };
}

/** Mines blocks immediately. */
export async function mineBlocks(client: EvmClient, blocks: number): Promise<void> {
  await client.mine({ blocks });
}

/**
 * Replaces the newest blocks by empty ones, and returns the node to the wall clock: after its own reorganisation it would
 * stay behind by the age of the replaced blocks, for every later block.
 */
export async function reorganise(client: EvmClient, depth: number): Promise<void> {
  // CAST: methods of the node that the client's types do not include.
  await client.request({ method: "anvil_reorg", params: [depth, []] } as never);
  // CAST: as above.
  await client.request({ method: "anvil_setTime", params: [Date.now()] } as never);
}

function createTick(client: EvmClient, idleIntervalMs: number, listener: MiningListener) {
  let seen: bigint | undefined;
  /** Up to this height blocks are mined at the busy interval. */
  let busyUntil = 0n;
  let movedAt = performance.now();

  return async (): Promise<void> => {
    const [head, pool] = await Promise.all([client.getBlockNumber(), client.getTxpoolStatus()]);
    if (head !== seen) {
      const filled = await findLastFilled(client, head, seen);
      if (filled !== undefined) busyUntil = filled + BUSY_BLOCKS;
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

/** Returns the newest block with transactions among the new blocks that are not yet final. */
async function findLastFilled(
  client: EvmClient,
  head: bigint,
  seen: bigint | undefined,
): Promise<bigint | undefined> {
  const oldest = head - BUSY_BLOCKS;
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
