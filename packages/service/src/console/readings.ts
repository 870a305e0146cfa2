/** Values that the console shows from nodes: heads, gas balances of lanes, inventories. Cached for all operators together. */
import type { ConsoleReadings } from "@sluice/sdk/wire";
import type { Chains } from "../chains/port/index.ts";
import type { Config } from "../config/index.ts";
import { formatUnits } from "../core/amounts.ts";
import { OperatingError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db } from "../db/schema.ts";
import { listDirections, listOpenMoves, readSource } from "../rebalancing/index.ts";
import { getToken, readInventories } from "../routes/index.ts";
import type { Log } from "../telemetry/log.ts";
import { listLaneSpending } from "../transactions/index.ts";
import { assetOf, nameOf } from "./assets.ts";
import type { DescribeContext } from "./describe.ts";

/** Requests within this time share one answer: people look, and nodes are paid by the request. */
const KEPT_MS = 15_000;

/** Dependencies of the readings. */
export interface ReadingsDeps extends DescribeContext {
  readonly config: Pick<Config, "chains" | "routes">;
  readonly nodes: Chains;
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
}

/** Creates the readings. A node that does not answer leaves its values null. */
export function createReadings(deps: ReadingsDeps): () => Promise<ConsoleReadings> {
  let last: { readonly atMs: number; readonly readings: Promise<ConsoleReadings> } | undefined;
  return () => {
    const nowMs = deps.clock.now();
    if (last && nowMs - last.atMs < KEPT_MS) return last.readings;
    const own = { atMs: nowMs, readings: readAll(deps, nowMs) };
    last = own;
    // A failure is not cached.
    own.readings.catch(() => {
      if (last === own) last = undefined;
    });
    return own.readings;
  };
}

async function readAll(deps: ReadingsDeps, nowMs: number): Promise<ConsoleReadings> {
  const { nodes, config, clock } = deps;
  const spending = await listLaneSpending(deps.db, nowMs);
  const [chains, lanes, inventories] = await Promise.all([
    Promise.all(
      [...nodes.values()].map(async (node) => {
        const head = await attempt(async () => (await node.getHead()).number);
        const { value, problem } = head;
        return {
          chain: nameOf(node.chainId),
          head: value === null ? null : Number(value),
          problem,
        };
      }),
    ),
    Promise.all(
      spending.map(async ({ chainId, address, purpose, perDay }) => {
        const node = nodes.get(chainId);
        const { value } = await attempt(async () => node?.getBalance(node.coin.token, address));
        const coin = node && assetOf(deps, chainId, node.coin.token);
        return {
          chain: nameOf(chainId),
          purpose,
          account: deps.display(address),
          balance: value === null || value === undefined ? null : (coin?.format(value) ?? null),
          runwayDays:
            value === null || value === undefined || perDay === null || perDay === 0n
              ? null
              : Number(value / perDay),
        };
      }),
    ),
    attempt(() => readInventories({ config, chains: nodes, db: deps.db, clock })),
  ]);
  const directions = await readDirections(deps);
  return { at: formatStamp(nowMs), chains, lanes, inventories: inventories.value, directions };
}

/** Reads where treasuries can move tokens to, and how much. */
async function readDirections(deps: ReadingsDeps): Promise<ConsoleReadings["directions"]> {
  const { config, nodes: chains, db, log } = deps;
  const open = await listOpenMoves(db);
  return Promise.all(
    listDirections(config).map(async (direction) => {
      const { srcChain, destChain, token } = direction;
      const source = await readSource({ config, chains, log }, direction, open);
      const { symbol, decimals } = getToken(config, srcChain, token);
      return {
        fromChainId: srcChain,
        toChainId: destChain,
        from: nameOf(srcChain),
        to: nameOf(destChain),
        symbol,
        movable: source && formatUnits(source.movable, decimals),
      };
    }),
  );
}

/** Returns the value, or the message of an error that the service knows. */
async function attempt<Value>(
  read: () => Promise<Value>,
): Promise<{ readonly value: Value | null; readonly problem: string | null }> {
  try {
    return { value: await read(), problem: null };
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    return { value: null, problem: error.message };
  }
}
