/**
 * Refills inventories from the treasury of one chain: follows its moves, then plans new ones. A failure is logged and
 * tried again at the next poll, since nothing waits for a refill but later deposits.
 */
import type { Chains } from "../chains/port/index.ts";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import { rescale } from "../core/amounts.ts";
import type { Address } from "../core/hex.ts";
import { readChainStates } from "../addresses/index.ts";
import { getChain, getToken, readFreeInventory } from "../routes/index.ts";
import { type Direction, isLocalTo, listDirections, listRefilled } from "./directions.ts";
import { followMoves, type MoveDeps, planAsked, planMove, type WantedMove } from "./move.ts";
import { type Level, planMoves, type Source } from "./plan.ts";
import * as store from "./store.ts";

export interface RebalancingDeps extends MoveDeps {
  readonly chains: Chains;
}

/**
 * Creates the poll of one chain with a treasury. While the treasury has nothing to move, no other chain is asked. Returns
 * false: the next poll comes at its interval.
 */
export function createRebalancingPoll(deps: RebalancingDeps): () => Promise<boolean> {
  return async () => {
    await followMoves(deps);
    const { chainId } = deps.chain;
    const open = await store.listOpen(deps.db);
    await planAsked(deps, open);
    const [own, others] = splitDirections(deps);
    const mine = await readSources(deps, own, open);
    if (!mine.some(({ movable, spoken }) => movable > spoken)) return false;
    const states = await readChainStates(deps.db);
    const levels = await readLevels(deps, open);
    // A chain that is taken out of service gives what its treasury has, and gets nothing.
    const stays = levels.filter((level) => !states.has(level.chainId));
    const isLow = stays.some(({ free, underWay, min }) => free + underWay < min);
    const sources = [...mine, ...(isLow ? await readSources(deps, others, open) : [])];
    for (const { direction, amount, reason } of planMoves(stays, sources)) {
      if (direction.srcChain !== chainId) continue;
      await tryMove(deps, { direction, amount, reason }, open);
    }
    return false;
  };
}

/** Returns the directions of the chain's treasury, and those of others. */
function splitDirections({
  config,
  chain: { chainId },
}: RebalancingDeps): readonly [readonly Direction[], readonly Direction[]] {
  const all = listDirections(config);
  const isOwn = ({ srcChain }: Direction) => srcChain === chainId;
  return [all.filter(isOwn), all.filter((direction) => !isOwn(direction))];
}

async function tryMove(
  deps: RebalancingDeps,
  wanted: WantedMove,
  open: readonly store.Move[],
): Promise<void> {
  const { direction, amount } = wanted;
  const { destChain, to } = direction;
  try {
    const moveId = await planMove(deps, wanted, open);
    if (moveId === null) return;
    deps.log.info({ moveId, destChain, amount: amount.toString() }, "treasury refills inventory");
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    deps.log.warn({ err: error, destChain, to }, "treasury cannot refill inventory");
  }
}

/** Reads the inventories that have a target. One whose chain does not answer is left out, and is not refilled. */
export async function readLevels(
  deps: Pick<RebalancingDeps, "config" | "db" | "chains" | "log">,
  open: readonly store.Move[],
): Promise<readonly Level[]> {
  const levels = await Promise.all(
    listRefilled(deps.config).map(async ({ chain: { chainId }, token, decimals, min, target }) => {
      const level = { chainId, token, decimals, min, target };
      const underWay = sumUnderWay(deps, open, level);
      const free = await answerOf(deps, chainId, () =>
        readFreeInventory(deps.db, getChain(deps.chains, chainId), token),
      );
      return free === null ? [] : [{ ...level, free, underWay }];
    }),
  );
  return levels.flat();
}

/** Reads what directions may move now. One whose chain does not answer is left out. */
async function readSources(
  deps: RebalancingDeps,
  directions: readonly Direction[],
  open: readonly store.Move[],
): Promise<readonly Source[]> {
  const sources = await Promise.all(
    directions.map((direction) => readSource(deps, direction, open)),
  );
  return sources.flatMap((source) => source ?? []);
}

/** Reads what a direction may move now; null if its chain does not answer. */
export async function readSource(
  deps: Pick<RebalancingDeps, "config" | "chains" | "log">,
  direction: Direction,
  open: readonly store.Move[],
): Promise<Source | null> {
  const { srcChain, token } = direction;
  const { treasury } = getChain(deps.chains, srcChain);
  assert(treasury, "a direction begins at a treasury");
  const movable = await answerOf(deps, srcChain, () => treasury.readMovable(direction));
  if (movable === null) return null;
  const { decimals, minDeposit } = getToken(deps.config, srcChain, token);
  const minimum = isLocalTo(direction) ? 0n : (minDeposit ?? 0n);
  const spoken = sumSpoken(open, { chainId: srcChain, token });
  return { direction, decimals, movable, spoken, minimum };
}

/** Returns what moves have yet to take out of a treasury, in base units of its token. */
export function sumSpoken(
  open: readonly store.Move[],
  { chainId, token }: { readonly chainId: number; readonly token: Address },
): bigint {
  return open
    .filter((move) => !hasLeft(move) && move.srcChain === chainId && move.token === token)
    .reduce((sum, { amount }) => sum + amount, 0n);
}

/** Reports whether a move is out of its treasury. */
function hasLeft({ state }: store.Move): boolean {
  return state === "moved" || state === "stranded";
}

/** Returns the value of moves toward an inventory, in its base units. */
function sumUnderWay(
  { config }: Pick<RebalancingDeps, "config">,
  open: readonly store.Move[],
  { chainId, token, decimals }: Pick<Level, "chainId" | "token" | "decimals">,
): bigint {
  return (
    open
      .filter((move) => move.destChain === chainId && move.destToken === token)
      // Nobody knows when a stranded one goes on.
      .filter(({ state }) => state !== "stranded")
      .reduce((sum, move) => {
        const source = config.chains.find((chain) => chain.chainId === move.srcChain);
        const held = source?.tokens.find((listed) => listed.address === move.token);
        // The chain of an earlier move may be gone from the configuration; an asset mostly has the same decimals everywhere.
        const from = held?.decimals ?? decimals;
        return sum + rescale(move.amount, from, decimals);
      }, 0n)
  );
}

/** Returns the answer of a chain; null if there is none, which is logged. */
export async function answerOf<Answer>(
  { log }: Pick<RebalancingDeps, "log">,
  chainId: number,
  ask: () => Promise<Answer>,
): Promise<Answer | null> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    log.debug({ err: error, chainId }, "inventory or treasury not read");
    return null;
  }
}
