/**
 * Plans the moves that refill inventories.
 *
 * Claims of a chain refill its own inventory first, up to the target: that costs gas alone. An inventory below its minimum is
 * filled up to its target from treasuries of other chains, those with the most to spare first; the need of such a chain's own
 * target stays there. Transfers below a hundredth of the target wait; within a chain, only while the inventory is above its
 * minimum.
 *
 * Invariants: no move exceeds what its direction may move now; no inventory is filled beyond its target, value under way
 * included; no treasury gives more than it has.
 */
import { rescale } from "../core/amounts.ts";
import { compare } from "../core/compare.ts";
import type { Address } from "../core/hex.ts";
import { type Direction, isLocalTo } from "./directions.ts";

/** An inventory. Amounts are in base units of its token. */
export interface Level {
  readonly chainId: number;
  readonly token: Address;
  readonly decimals: number;
  /** The balance of the `Delivery` without reservations; below zero if they exceed it. */
  readonly free: bigint;
  /** Value of moves towards it that has not arrived. */
  readonly underWay: bigint;
  readonly min: bigint;
  readonly target: bigint;
}

/** A direction with what its treasury has. Amounts are in base units of the treasury's token. */
export interface Source {
  readonly direction: Direction;
  readonly decimals: number;
  /** The most that one move may move now: cap and floor allow it, and it is there. */
  readonly movable: bigint;
  /** What earlier moves of the same token have yet to take out of the treasury. */
  readonly spoken: bigint;
  /** The smallest deposit that is settled, as which a move arrives at another chain's address; zero within a chain. */
  readonly minimum: bigint;
}

export interface PlannedMove {
  readonly direction: Direction;
  /** Base units of the treasury's token. */
  readonly amount: bigint;
  readonly reason: string;
}

/** The least part of a target that is worth a move. */
const STEPS_OF_TARGET = 100n;

/** Returns the moves to make now, at most one per treasury and token, since each changes what the next one finds. */
export function planMoves(
  levels: readonly Level[],
  sources: readonly Source[],
): readonly PlannedMove[] {
  const planned: PlannedMove[] = [];
  const used = new Set<string>();
  const add = (source: Source, amount: bigint, reason: string) => {
    used.add(keyOf(source.direction));
    planned.push({ direction: source.direction, amount, reason });
  };
  const freeOf = ({ direction, movable, spoken }: Source) => {
    if (used.has(keyOf(direction))) return 0n;
    return movable > spoken ? movable - spoken : 0n;
  };
  for (const level of levels) {
    const source = sources.find(({ direction }) => isLocalTo(direction) && isOf(direction, level));
    if (!source) continue;
    const amount = least(freeOf(source), neededBy(level));
    if (isWorthwhile(level, amount)) add(source, amount, "claims of the chain");
  }
  const low = levels.filter(({ free, underWay, min }) => free + underWay < min);
  for (const level of low.toSorted(byNeed)) {
    let missing = neededBy(level) - plannedFor(planned, level);
    const remote = sources
      .filter(({ direction }) => !isLocalTo(direction) && isOf(direction, level))
      .map((source) => ({ source, spare: spareOf(source, freeOf(source), levels) }))
      .toSorted((one, other) => compare(other.spare, one.spare));
    for (const { source, spare } of remote) {
      const amount = least(spare, rescale(missing, level.decimals, source.decimals));
      if (amount < source.minimum) continue;
      if (rescale(amount, source.decimals, level.decimals) * STEPS_OF_TARGET < level.target)
        continue;
      add(source, amount, "below its minimum");
      missing -= rescale(amount, source.decimals, level.decimals);
    }
  }
  return planned;
}

/** Returns the amount that a treasury can give to another chain: the need of its own inventory stays. */
function spareOf(
  { direction: { srcChain, token }, decimals }: Source,
  free: bigint,
  levels: readonly Level[],
): bigint {
  const own = levels.find((level) => level.chainId === srcChain && level.token === token);
  const needed = own ? rescale(neededBy(own), own.decimals, decimals) : 0n;
  return free > needed ? free - needed : 0n;
}

/** Returns what an inventory lacks of its target, value under way included. */
export function neededBy({ free, underWay, target }: Level): bigint {
  const has = free + underWay;
  return has < target ? target - has : 0n;
}

function plannedFor(planned: readonly PlannedMove[], level: Level): bigint {
  return planned
    .filter(({ direction }) => isLocalTo(direction) && isOf(direction, level))
    .reduce((sum, { amount }) => sum + amount, 0n);
}

function isWorthwhile({ free, underWay, min, target }: Level, amount: bigint): boolean {
  if (amount === 0n) return false;
  return free + underWay < min || amount * STEPS_OF_TARGET >= target;
}

function isOf({ destChain, destToken }: Direction, { chainId, token }: Level): boolean {
  return destChain === chainId && destToken === token;
}

/** Orders by the part of the target that is there, the smallest first. */
function byNeed(one: Level, other: Level): number {
  return compare(
    (one.free + one.underWay) * (other.target || 1n),
    (other.free + other.underWay) * (one.target || 1n),
  );
}

function keyOf({ srcChain, token }: Direction): string {
  return `${srcChain}:${token}`;
}

const least = (one: bigint, other: bigint) => (one < other ? one : other);
