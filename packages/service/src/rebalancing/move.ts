/** Makes the moves of a treasury, and follows each until it is in the inventory. */
import type { Chain } from "../chains/port/index.ts";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import type { Address } from "../core/hex.ts";
import type { Clock, Random } from "../core/ports.ts";
import { findDepositOutcome } from "../deposits/index.ts";
import type { Config } from "../config/index.ts";
import type { Db, Tx } from "../db/schema.ts";
import { readPausedRoutes, STATUS_OF_DEPOSIT } from "../settlements/index.ts";
import type { Log } from "../telemetry/log.ts";
import {
  failureOf,
  getByIntent,
  type IntentName,
  isOver,
  planCall,
  submitIntent,
} from "../transactions/index.ts";
import {
  type Direction,
  integratorOf,
  isLocalTo,
  issueDirection,
  listDirections,
} from "./directions.ts";
import * as store from "./store.ts";

export interface MoveDeps {
  readonly config: Pick<Config, "chains" | "routes">;
  readonly db: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The chain of the treasury. */
  readonly chain: Chain;
  /** Accounts that may move: those of the settle lanes. */
  readonly lanes: readonly Address[];
  /** Called after the commit. */
  readonly wakeLanes: (chainId: number) => void;
}

/** A move that the service planned. */
export interface WantedMove {
  readonly direction: Direction;
  /** Base units of the treasury's token. */
  readonly amount: bigint;
  readonly reason: string;
}

const intentOf = (id: string): IntentName => `move:${id}:1`;

/**
 * Queues a move that the service planned: row and intent in one transaction, after a simulation. Returns its id, or null
 * if moves toward the inventory changed since `seen` was listed; then nothing is queued.
 * @throws OperatingError of `planCall`; CONFIG_MISSING while the treasury's chain, or the token there, is paused.
 */
export async function planMove(
  deps: MoveDeps,
  wanted: WantedMove,
  seen: readonly store.Move[],
): Promise<string | null> {
  const { direction, amount, reason } = wanted;
  const queue = await prepare(deps, direction, amount);
  const id = deps.random.uuid();
  const isQueued = await deps.db.transaction().execute(async (tx) => {
    await store.lockDestination(tx, direction);
    const open = await store.listOpen(tx);
    if (!isSame(underWayTo(open, direction), underWayTo(seen, direction))) return false;
    const row = { ...direction, id, amount, reason, operator: null, state: "planned" } as const;
    await store.insertMove(tx, row);
    await queue(tx, id);
    return true;
  });
  if (!isQueued) return null;
  deps.wakeLanes(direction.srcChain);
  return id;
}

/** Plans the moves that operators asked for. One that cannot be planned now says why, and is tried again. */
export async function planAsked(deps: MoveDeps, open: readonly store.Move[]): Promise<void> {
  const { db, clock, chain, log } = deps;
  const directions = listDirections(deps.config);
  for (const move of open) {
    if (move.state !== "asked" || move.srcChain !== chain.chainId) continue;
    if (!directions.some((known) => isSameDirection(known, move))) {
      await store.setError(db, move.id, "The configuration no longer has its direction.");
      continue;
    }
    try {
      const queue = await prepare(deps, move, move.amount);
      const isQueued = await db.transaction().execute(async (tx) => {
        const change = { next: "planned", nowMs: clock.now() } as const;
        if (!(await store.setState(tx, move, change))) return false;
        await queue(tx, move.id);
        return true;
      });
      if (isQueued) deps.wakeLanes(chain.chainId);
    } catch (error) {
      if (!(error instanceof OperatingError)) throw error;
      log.warn({ err: error, moveId: move.id }, "treasury cannot make a requested move");
      const cause = error.details?.["reason"];
      const name = typeof cause === "string" ? `${error.code}, ${cause}` : error.code;
      await store.setError(db, move.id, `${error.message} (${name})`);
    }
  }
}

/** Checks that a move is possible now. Returns the function that queues its intent. */
async function prepare(
  deps: MoveDeps,
  direction: Direction,
  amount: bigint,
): Promise<(tx: Tx, id: string) => Promise<void>> {
  const { db, chain, random } = deps;
  const { treasury } = chain;
  assert(treasury, "a direction begins at a treasury");
  const { srcChain: chainId, token, to } = direction;
  await readPausedRoutes(db, { integratorId: integratorOf(treasury.address), chainId, token });
  // The scanner must know the address before it is paid.
  await issueDirection(deps, { config: deps.config, chain, direction });
  const call = treasury.buildMove({ token, to, amount });
  const { lane, gas } = await planCall(
    { db, chain },
    { lanes: deps.lanes, call, what: "Moving from the treasury" },
  );
  return (tx, id) => {
    const intent = intentOf(id);
    return submitIntent(tx, random, { chainId, lane, intent, settlementId: null, call, gas });
  };
}

/** Follows the moves of a treasury's chain that have not ended. */
export async function followMoves(deps: MoveDeps): Promise<void> {
  const { db, clock, log, chain } = deps;
  for (const move of await store.listOpen(db, { srcChain: chain.chainId })) {
    const next = await readState(deps, move);
    if (next === move.state) continue;
    const isChanged = await store.setState(db, move, { next, nowMs: clock.now() });
    if (isChanged) log.info({ moveId: move.id, state: next }, "move of a treasury");
  }
}

async function readState({ db }: MoveDeps, move: store.Move): Promise<store.MoveState> {
  if (move.state === "asked") return "asked";
  const sent = await getByIntent(db, intentOf(move.id));
  if (!sent || !isOver(sent)) return "planned";
  if (failureOf(sent) !== null) return "failed";
  if (isLocalTo(move)) return "arrived";
  assert(sent.mined, "a final transaction without a failure was mined");
  const deposit = { chainId: move.srcChain, wallet: move.to, token: move.token };
  const outcome = await findDepositOutcome(db, {
    ...deposit,
    txHash: sent.mined.txHash,
    status: STATUS_OF_DEPOSIT,
  });
  if (outcome === "settled") return "arrived";
  if (outcome === "refunded") return "returned";
  return outcome === "dead" ? "stranded" : "moved";
}

function underWayTo(open: readonly store.Move[], to: Direction): readonly string[] {
  return open
    .filter(({ destChain, destToken }) => destChain === to.destChain && destToken === to.destToken)
    .map(({ id }) => id)
    .toSorted();
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.join() === other.join();
}

/** Compares all of a direction: the address of an earlier set of routes is another one. */
function isSameDirection(one: Direction, other: Direction): boolean {
  return (
    one.srcChain === other.srcChain &&
    one.token === other.token &&
    one.to === other.to &&
    one.destChain === other.destChain &&
    one.destToken === other.destToken
  );
}
