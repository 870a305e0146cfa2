/** Counts the requests of a day to the nodes that have a daily budget, for all processes together. */
import { sql } from "kysely";
import type { Db } from "./schema.ts";

/** A node, and the requests to reserve. */
export interface Reservation {
  /** Bridge chain id. */
  readonly chainId: number;
  /** Host of the node's URL, which its operator does not share with another node of the chain. */
  readonly host: string;
  /** Days since the Unix epoch. */
  readonly day: number;
  readonly count: number;
  /** The budget of the day; at least `count`. */
  readonly max: number;
}

/** Returns the requests of a day, by chain and host. */
export async function listReserved(
  db: Db,
  day: number,
): Promise<readonly Pick<Reservation, "chainId" | "host" | "count">[]> {
  const rows = await db.selectFrom("rpc_budgets").selectAll().where("day", "=", day).execute();
  return rows.map(({ chain_id: chainId, host, requests }) => ({
    chainId,
    host,
    count: Number(requests),
  }));
}

/**
 * Adds requests to those of the day, unless they then exceed the budget. Returns the requests of the day, or null. A process
 * whose clock is behind counts towards the newer day.
 */
export async function reserveRequests(db: Db, given: Reservation): Promise<number | null> {
  const { chainId, host, day, count, max } = given;
  const { rows } = await sql<{ requests: bigint }>`
    insert into rpc_budgets as b (chain_id, host, day, requests)
    values (${chainId}, ${host}, ${day}, ${count})
    on conflict (chain_id, host) do update
       set day = greatest(b.day, excluded.day),
           requests = case when b.day < excluded.day then 0 else b.requests end + excluded.requests
     where b.day < excluded.day or b.requests + excluded.requests <= ${max}
    returning requests`.execute(db);
  const [row] = rows;
  return row ? Number(row.requests) : null;
}
