/**
 * Sweeps in parts. A balance above what its route takes at once (inventory, a daily cap, a share of them, a bridge's limit
 * per message) would otherwise wait until the limit rises, and with it every later deposit. It is swept in parts instead, each by a
 * settlement of its own, the successor of the one before.
 *
 * Deposits are taken first in, first out. A deposit that two parts share belongs to the part that takes its last unit.
 */
import type { Held } from "../chains/port/index.ts";
import { findEndBeforeNewest } from "../deposits/index.ts";
import type { Route, Sweep } from "../routes/index.ts";
import { chainOf, type SettlementDeps } from "./deps.ts";
import { SETTLEMENT_CONDITIONS } from "./store/deposits.ts";
import type { Settlement } from "./types.ts";

/**
 * Returns the part of a balance that the route takes now, and the block up to which it takes all arrivals. Null where the
 * route has no limit, where either the part or the rest would be too small.
 */
export async function planPart(
  deps: SettlementDeps,
  settlement: Settlement,
  { route, held }: { readonly route: Route; readonly held: Held },
): Promise<Held | null> {
  const { id: settlementId, integratorId, addressId } = settlement;
  const most = await route.readCapacity({ settlementId, integratorId, addressId });
  const least = await readLeast(deps, settlement, held);
  const amount = most && least && sizePart({ balance: held.amount, most, least });
  if (!amount) return null;
  const known = await readKnown(deps, settlement, held);
  // Less than the part: the node is behind the one that answered before.
  if (known.amount < amount) return null;
  const end = await findEndBeforeNewest(deps.db, SETTLEMENT_CONDITIONS, {
    holding: settlement,
    settlementId,
    upTo: known.asOf,
    amount: known.amount - amount,
  });
  return {
    amount,
    asOf: end,
    ...(held.sources && { sources: takeFrom(held.sources, amount) }),
  };
}

/** Returns a balance with the block that it was read at: a deposit recorded after that block is not in it. */
async function readKnown(
  deps: SettlementDeps,
  settlement: Settlement,
  { amount, asOf }: Held,
): Promise<{ readonly amount: bigint; readonly asOf: bigint }> {
  if (asOf !== undefined) return { amount, asOf };
  const chain = chainOf(deps, settlement);
  const head = await chain.getHead();
  const balance = await chain.getBalance(settlement.token, settlement.wallet, head);
  return { amount: balance, asOf: head.number };
}

/**
 * Reports whether a sweep is a part of which the chain does not show where it ends. The planned end is a height, below which a
 * reorg may bring other deposits: it is found again once the sweep is final.
 */
export function hasPlannedEnd({ plannedUpTo }: Settlement, sweep: Sweep): boolean {
  return plannedUpTo !== null && sweep.upTo === undefined;
}

/**
 * Adds to a mined sweep the last block whose deposits it takes, where it was planned as a part on a chain whose sweeps do
 * not name that block.
 */
export function withUpTo({ plannedUpTo }: Settlement, sweep: Sweep | null): Sweep | null {
  return sweep && { ...sweep, upTo: sweep.upTo ?? plannedUpTo ?? undefined };
}

/**
 * Returns the amount of a part: as much as possible, but leaving a rest that is itself worth a sweep. Null when the
 * balance needs no parts or cannot be divided into two of at least the minimum.
 */
export function sizePart({
  balance,
  most,
  least,
}: {
  readonly balance: bigint;
  /** Most that the route takes. */
  readonly most: bigint;
  /** Least of a part and of the rest. */
  readonly least: bigint;
}): bigint | null {
  if (most >= balance) return null;
  const amount = balance - most < least ? balance - least : most;
  return amount < least ? null : amount;
}

/**
 * Returns the least of a part and of the rest. Twice the floor: a price movement meanwhile must not bring the rest below
 * it. A rest of native coin must also be worth an account. Null while the floor has no price.
 */
async function readLeast(
  { readMinimums }: SettlementDeps,
  { chainId, token }: Settlement,
  { spare = 1n }: Held,
): Promise<bigint | null> {
  const { token: ofToken = 1n, floor = 0n } = await readMinimums(chainId, token);
  if (floor === "unpriced") return null;
  return [ofToken, spare, 2n * floor].reduce((most, one) => (one > most ? one : most));
}

/** Returns the sources that add up to an amount, in their order. */
function takeFrom(
  sources: NonNullable<Held["sources"]>,
  amount: bigint,
): NonNullable<Held["sources"]> {
  let left = amount;
  const taken = [];
  for (const source of sources) {
    if (left === 0n) break;
    const part = source.amount < left ? source.amount : left;
    taken.push({ ...source, amount: part });
    left -= part;
  }
  return taken;
}
