/**
 * The watch of one chain: reads the changes of owner and guardian up to the newest final block, and judges them.
 *
 * A schedule older than the delay and the 14 days after it can no longer be executed, so the first read begins there. The
 * progress is a row, so that a restart continues, also where a node gives few blocks per request.
 */
import type { Chain, GovernanceLog } from "../chains/port/index.ts";
import type { Config } from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import type { Db } from "../db/schema.ts";
import { listDirections } from "../rebalancing/index.ts";
import type { Log } from "../telemetry/log.ts";
import { EXECUTE_WITHIN_S, expectOf, type Standing, toStanding } from "./standing.ts";
import * as store from "./store.ts";

/** The most blocks of a part: three weeks of a chain with blocks of two seconds. */
const PART_BLOCKS_MAX = 1_000_000n;
/** Parts of a poll: a node that gives ten blocks per request gets at most 160 requests. */
const PARTS_PER_POLL = 4;

export interface WatchDeps {
  readonly db: Db;
  readonly chain: Chain;
  readonly config: Pick<Config, "chains" | "routes" | "attestors" | "deployment">;
  readonly clock: Clock;
  readonly log: Log;
}

/** A watch; it remembers how many blocks the nodes accept. */
export interface GovernanceWatch {
  /** Reads the next blocks. Throws RPC_UNAVAILABLE if the nodes do not answer; the progress is kept. */
  poll(): Promise<void>;
}

/** Returns the watch of a chain; null where no contract is governed. */
export function createGovernanceWatch(deps: WatchDeps): GovernanceWatch | null {
  const { governance } = deps.chain;
  if (!governance) return null;
  const part = { blocks: PART_BLOCKS_MAX };
  return {
    async poll() {
      const isComplete = await readOn(deps, governance, part);
      if (isComplete) await judge(deps);
    },
  };
}

/** Reads the next parts. Returns whether the newest final block was reached. */
async function readOn(
  { db, chain, config, clock }: WatchDeps,
  governance: GovernanceLog,
  part: { blocks: bigint },
): Promise<boolean> {
  const { chainId } = chain;
  const final = await chain.getFinalNumber();
  const readTo = await store.getReadTo(db, chainId);
  let next = readTo === null ? await findStart(chain, governance, clock) : readTo + 1n;
  const routes = config.routes.flatMap((route) =>
    route.chainId === chainId ? route.contract : [],
  );
  for (let parts = 0; parts < PARTS_PER_POLL && next <= final; parts += 1) {
    const last = next + part.blocks - 1n;
    const to = last < final ? last : final;
    try {
      const changes = await governance.listChanges({ from: next, to, routes });
      await store.keep(db, chainId, { changes, to });
    } catch (error) {
      if (!(error instanceof OperatingError)) throw error;
      // The part may be too large for a node.
      const half = (to - next + 1n) / 2n;
      part.blocks = half > 0n ? half : 1n;
      throw error;
    }
    next = to + 1n;
    const more = part.blocks * 2n;
    part.blocks = more < PART_BLOCKS_MAX ? more : PART_BLOCKS_MAX;
  }
  return next > final;
}

/** Returns the first block of which a schedule could still be executed. */
async function findStart(chain: Chain, governance: GovernanceLog, clock: Clock): Promise<bigint> {
  const nowS = BigInt(Math.floor(clock.now() / 1000));
  const oldest = nowS - (await governance.getDelay()) - EXECUTE_WITHIN_S;
  return (await chain.payoutSearch?.findBlockAt(oldest)) ?? 0n;
}

/** Marks the changes that nobody expects, for metrics, and logs each once. */
async function judge(deps: WatchDeps): Promise<void> {
  const { db, chain, clock, log } = deps;
  const { chainId } = chain;
  const unexpected = (await readStanding(deps, chainId)).filter((one) => !one.isExpected);
  const nowMs = clock.now();
  const marked = await store.mark(db, chainId, {
    unexpected: unexpected.map(({ id }) => id),
    nowMs,
  });
  for (const { id, contract, role, subject, state } of unexpected) {
    if (!marked.has(id)) continue;
    log.error({ change: `${id}`, contract, role, subject, state }, "contracts: unexpected change");
  }
}

/** Returns the standing of the contracts of one chain or of all, as far as the watch has read. */
export async function readStanding(
  { db, config, clock }: Pick<WatchDeps, "db" | "config" | "clock">,
  chainId?: number,
): Promise<readonly Standing[]> {
  const lanes = await db.selectFrom("lanes").select(["chain_id", "purpose", "address"]).execute();
  const directions = listDirections(config);
  return toStanding(await store.list(db, chainId), {
    nowS: BigInt(Math.floor(clock.now() / 1000)),
    expectationOf: (id) =>
      expectOf(config, {
        chainId: id,
        lanes: lanes.filter((lane) => lane.chain_id === id),
        directions: directions.filter(({ srcChain }) => srcChain === id),
      }),
  });
}

/** Returns the changes that nobody expects; null if no chain has been watched up to its newest final block yet. */
export async function listUnexpected(
  deps: Pick<WatchDeps, "db" | "config" | "clock">,
): Promise<readonly Standing[] | null> {
  if (!(await store.hasComplete(deps.db))) return null;
  return (await readStanding(deps)).filter(({ isExpected }) => !isExpected);
}
