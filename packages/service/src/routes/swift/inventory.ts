/** Inventory report for an operator: balance, reservations, unclaimed payouts and runway. */
import { sql } from "kysely";
import type { Chain } from "../../chains/port/index.ts";
import type { Address } from "../../core/hex.ts";
import type { Clock } from "../../core/ports.ts";
import { formatStamp } from "../../core/stamp.ts";
import type { Db } from "../../db/schema.ts";
import { sumReserved } from "./store.ts";

/** One token on one destination chain. Amounts are in base units. */
export interface InventoryReport {
  readonly chainId: number;
  readonly token: Address;
  readonly balance: bigint;
  readonly reserved: bigint;
  /** Remainder of the daily cap. */
  readonly capLeft: bigint;
  /** Amount available to new deposits: the smaller of balance and cap, minus reservations. */
  readonly available: bigint;
  /** Locks that wait for their payout. */
  readonly unpaid: { readonly count: number; readonly amount: bigint };
  /** Paid deliveries whose locks are not in the treasury yet. */
  readonly unclaimed: {
    readonly count: number;
    /** Sum of their payouts. */
    readonly amount: bigint;
    /** Age of the oldest such lock in milliseconds; null without any. */
    readonly oldestMs: number | null;
  };
  /** Payouts of locks of the last seven days. */
  readonly paidIn7Days: bigint;
  /** Whole hours that `available` lasts at the pace of the last seven days; null if nothing was paid. */
  readonly runwayHours: bigint | null;
}

const WEEK_MS = 7 * 24 * 3_600_000;
const WEEK_HOURS = 168n;

/** Reports on one inventory. Throws RPC_UNAVAILABLE if its chain does not answer. */
export async function reportInventory(
  deps: { readonly db: Db; readonly clock: Clock },
  chain: Chain,
  token: Address,
): Promise<InventoryReport> {
  const { db, clock } = deps;
  const { chainId } = chain;
  const reserved = await sumReserved(db, { destChain: chainId, token });
  const balance = await chain.getBalance(token, chain.addresses.delivery);
  const capLeft = await chain.getDailyCapLeft(token);
  const free = (balance < capLeft ? balance : capLeft) - reserved;
  const available = free > 0n ? free : 0n;
  const facts = await readDeliveries(db, { chainId, token, sinceMs: clock.now() - WEEK_MS });
  const { oldestUnclaimed } = facts;
  return {
    chainId,
    token,
    balance,
    reserved,
    capLeft,
    available,
    unpaid: { count: facts.unpaidCount, amount: facts.unpaidAmount },
    unclaimed: {
      count: facts.unclaimedCount,
      amount: facts.unclaimedAmount,
      oldestMs: oldestUnclaimed === null ? null : clock.now() - Date.parse(oldestUnclaimed),
    },
    paidIn7Days: facts.paid,
    runwayHours: facts.paid === 0n ? null : (available * WEEK_HOURS) / facts.paid,
  };
}

/**
 * Returns what a chain's inventory of a token has and nobody has reserved, in base units; below zero if more is reserved than
 * there is. Throws RPC_UNAVAILABLE if the chain does not answer.
 */
export async function readFreeInventory(db: Db, chain: Chain, token: Address): Promise<bigint> {
  const reserved = await sumReserved(db, { destChain: chain.chainId, token });
  return (await chain.getBalance(token, chain.addresses.delivery)) - reserved;
}

async function readDeliveries(
  db: Db,
  args: { readonly chainId: number; readonly token: Address; readonly sinceMs: number },
) {
  const unpaid = sql`state in ('locked', 'returning')`;
  const unclaimed = sql`state in ('delivered', 'claiming')`;
  const since = formatStamp(args.sinceMs);
  const row = await db
    .selectFrom("deliveries")
    .select([
      sql<string>`count(*) filter (where ${unpaid})`.as("unpaid_count"),
      sql<string>`coalesce(sum(pay_amount) filter (where ${unpaid}), 0)`.as("unpaid_amount"),
      sql<string>`count(*) filter (where ${unclaimed})`.as("unclaimed_count"),
      sql<string>`coalesce(sum(delivered_amount) filter (where ${unclaimed}), 0)`.as(
        "unclaimed_amount",
      ),
      sql<string | null>`min(created_at) filter (where ${unclaimed})`.as("oldest_unclaimed"),
      sql<string>`coalesce(sum(delivered_amount) filter (where created_at > ${since}), 0)`.as(
        "paid",
      ),
    ])
    .where("dest_chain", "=", args.chainId)
    .where("dest_token", "=", args.token)
    .executeTakeFirstOrThrow();
  return {
    unpaidCount: Number(row.unpaid_count),
    unpaidAmount: BigInt(row.unpaid_amount),
    unclaimedCount: Number(row.unclaimed_count),
    unclaimedAmount: BigInt(row.unclaimed_amount),
    oldestUnclaimed: row.oldest_unclaimed,
    paid: BigInt(row.paid),
  };
}
