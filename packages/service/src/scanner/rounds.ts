/**
 * Chooses the wallets whose native balances a poll compares.
 *
 * The wallets of an integrator are on a ring, in the order of their addresses, and a position moves around it once in a
 * period. A poll takes the wallets that the position passes since the last poll, so that requests are spread evenly over the
 * period. Positions are stored after the comparison: a failed poll or a restart leaves no wallet out.
 *
 * The number of wallets per poll is limited. Integrators share it evenly, and pass on the part that they do not need. One
 * with too many wallets therefore falls behind alone; its position continues where it was, and still passes every wallet.
 */
import { listInRanges, type WalletList, type WalletRange } from "../addresses/index.ts";
import type { Address } from "../core/hex.ts";
import type { Db } from "../db/schema.ts";
import { listIntegrators } from "../integrators/index.ts";
import { listPositions, type Position } from "./store.ts";

/** A list of wallets, and how often each is compared. */
export interface Round {
  readonly list: WalletList;
  /** Time around the ring; zero takes the whole ring in every poll. */
  readonly periodMs: number;
  /** Most wallets per poll, of all integrators together. */
  readonly walletsMax: number;
}

export interface Turn {
  /** In the order of their addresses, for each integrator. */
  readonly wallets: readonly Address[];
  /** Positions to store once the wallets are compared. */
  readonly positions: readonly Position[];
  /** Integrators that stay a whole period behind, because their wallets exceed their share. */
  readonly late: readonly string[];
}

/** Number of addresses. */
const RING = 2n ** 160n;
const LAST = format(RING - 1n);

/** The part of an integrator's ring that is due: the addresses after `from`, `length` of them. */
interface Arc {
  readonly integratorId: string;
  from: bigint;
  length: bigint;
  /** Whether it was the whole ring. */
  readonly isWhole: boolean;
  /** Whether it has had a wallet. */
  isUsed: boolean;
}

/** Takes the wallets of a round that are due. Changes nothing. */
export async function takeTurn(
  db: Db,
  {
    chainId,
    round,
    nowMs,
  }: { readonly chainId: number; readonly round: Round; readonly nowMs: number },
): Promise<Turn> {
  const arcs = await listArcs(db, chainId, round, nowMs);
  const wallets: Address[] = [];
  let open = arcs;
  while (open.length > 0 && wallets.length < round.walletsMax) {
    const left = round.walletsMax - wallets.length;
    const share = Math.max(1, Math.floor(left / open.length));
    const served = open.slice(0, left);
    wallets.push(...(await takeShares(db, round.list, served, share)));
    open = open.filter(({ length }) => length > 0n);
  }
  return {
    wallets,
    positions: arcs.filter(({ isUsed }) => isUsed).map((arc) => toPosition(arc, round, nowMs)),
    late: open.filter(({ isWhole }) => isWhole).map(({ integratorId }) => integratorId),
  };
}

/** Returns the due arc of each integrator, the latest position first. */
async function listArcs(db: Db, chainId: number, round: Round, nowMs: number): Promise<Arc[]> {
  const integrators = await listIntegrators(db);
  const known = new Map(
    (await listPositions(db, chainId, round.list.name)).map((one) => [one.integratorId, one]),
  );
  return integrators
    .map(({ integratorId }) => {
      const { position = format(0n), sweptMs = 0 } = known.get(integratorId) ?? {};
      const length = lengthOf(nowMs - sweptMs, round.periodMs);
      const isWhole = length === RING;
      return {
        sweptMs,
        arc: { integratorId, from: BigInt(position), length, isWhole, isUsed: false },
      };
    })
    .toSorted((one, other) => one.sweptMs - other.sweptMs)
    .map(({ arc }) => arc)
    .filter(({ length }) => length > 0n);
}

/** Returns how many addresses a position passes in a time, at most all. */
function lengthOf(elapsedMs: number, periodMs: number): bigint {
  // A clock that was set back must not delay the comparison.
  if (elapsedMs < 0 || elapsedMs >= periodMs) return RING;
  return (RING * BigInt(elapsedMs)) / BigInt(periodMs);
}

/** Takes the first wallets of each arc, at most `share`, and shortens the arcs accordingly. */
async function takeShares(
  db: Db,
  list: WalletList,
  arcs: readonly Arc[],
  share: number,
): Promise<Address[]> {
  const ranges = arcs.flatMap(toRanges);
  const found = Map.groupBy(
    (await listInRanges(db, list, { ranges, limit: share })).flatMap((wallets, index) =>
      wallets.map((wallet) => ({ wallet, integratorId: ranges[index]?.integratorId })),
    ),
    ({ integratorId }) => integratorId,
  );
  return arcs.flatMap((arc) => {
    const wallets = (found.get(arc.integratorId) ?? []).slice(0, share).map(({ wallet }) => wallet);
    const last = wallets.at(-1);
    const passed = last && wallets.length === share ? distance(arc.from, BigInt(last)) : arc.length;
    arc.from = (arc.from + passed) % RING;
    arc.length -= passed;
    arc.isUsed ||= wallets.length > 0;
    return wallets;
  });
}

/** Returns the addresses from a position to a wallet; the whole ring to the wallet at the position. */
function distance(from: bigint, to: bigint): bigint {
  return to > from ? to - from : to - from + RING;
}

function toRanges({ integratorId, from, length }: Arc): WalletRange[] {
  const end = from + length;
  if (end < RING) return [{ integratorId, after: format(from), until: format(end) }];
  return [
    { integratorId, after: format(from), until: LAST },
    { integratorId, after: "", until: format(end - RING) },
  ];
}

function toPosition(
  { integratorId, from, length }: Arc,
  { periodMs }: Round,
  nowMs: number,
): Position {
  // Rounded up, so that the position is never ahead of its time.
  const lateMs = (length * BigInt(periodMs) + RING - 1n) / RING;
  return { integratorId, position: format(from), sweptMs: nowMs - Number(lateMs) };
}

function format(place: bigint): string {
  return `0x${place.toString(16).padStart(40, "0")}`;
}
