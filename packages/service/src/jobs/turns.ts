/**
 * Shares waiting rows between integrators: they take turns, so that a row of one waits for at most one round of the others,
 * however many rows these have. An integrator with a weight of n (`queue_weight`) has n turns per round.
 *
 * The integrators with open rows are found by one probe of an index each, on `(…, integrator_id, <since>)`; so are the
 * oldest rows of each. The costs depend on the number of integrators and the limit, not on the number of rows.
 */
import { type Expression, type RawBuilder, sql, type SqlBool } from "kysely";
import type { Database } from "../db/schema.ts";

/** Tables with an `id` and an `integrator_id`. */
type SharedTable =
  "settlements" | "deliveries" | "bridge_transfers" | "transactions" | "deposits" | "screenings";

/** A chosen row and its place in the order of the turns, from 1. */
export interface Turn {
  readonly id: string;
  readonly place: bigint;
}

/** Returns a table expression with the rows whose turn it is, at most `limit`. */
export function takeTurns({
  table,
  open,
  due,
  since,
  nulls = "last",
  limit,
  lock = false,
}: {
  readonly table: SharedTable & keyof Database;
  /** Condition of the rows that share an index: the integrators of all of them are visited. */
  readonly open: Expression<SqlBool>;
  /** Condition of the open rows that may be chosen. */
  readonly due: Expression<SqlBool>;
  /** Column by which the oldest row of an integrator is found. */
  readonly since: string;
  readonly nulls?: "first" | "last";
  readonly limit: number;
  /** Whether the rows are locked, and rows that others hold skipped. */
  readonly lock?: boolean;
}): RawBuilder<Turn> {
  const from = sql`from ${sql.table(table)} where ${open}`;
  const waiting = sql`${sql.ref(since)} nulls ${sql.raw(nulls)}, id`;
  return sql<Turn>`(
    with recursive tenants as(
      (select integrator_id ${from} order by integrator_id limit 1)
      union all
      select (select integrator_id ${from} and integrator_id > tenants.integrator_id order by integrator_id limit 1)
        from tenants where tenants.integrator_id is not null
    )
    select own.id, row_number() over (
        order by own.turn / queue_weight(tenants.integrator_id), own.since nulls ${sql.raw(nulls)}, own.id) as place
      from tenants cross join lateral (
        select found.id, found.since,
            row_number() over (order by found.since nulls ${sql.raw(nulls)}, found.id)::float8 as turn
          from (
            select id, ${sql.ref(since)} as since ${from} and integrator_id = tenants.integrator_id and ${due}
              order by ${waiting} limit ${limit} ${lock ? sql`for update skip locked` : sql``}
          ) as found
      ) as own
      where tenants.integrator_id is not null
      order by place limit ${limit}
  )`;
}
