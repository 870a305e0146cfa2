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
  | "settlements"
  | "deliveries"
  | "bridge_transfers"
  | "transactions"
  | "deposits"
  | "screenings";

/** A chosen row, the time by which it was found, and its place in the order of the turns, from 1. */
export interface Turn {
  readonly id: string;
  readonly since: string;
  readonly place: bigint;
}

/**
 * Progress of a poll through rows that stay where they are until something else changes. Each page continues after the last
 * one of each integrator and starts again after its last row, so that every row has its turn. Kept in memory: after a
 * restart the polls begin with the oldest rows.
 */
export interface Rounds {
  /** The last row of each integrator, and the page that had it. */
  readonly reached: Map<string, Reached>;
  page: number;
}

interface Reached {
  readonly since: string;
  readonly id: string;
  readonly page: number;
}

/** A row of a page, in the order of the turns. */
interface PageRow {
  readonly integratorId: string;
  readonly since: string;
  readonly id: string;
}

export function createRounds(): Rounds {
  return { reached: new Map(), page: 0 };
}

/** Records a page, so that the next one continues after it. */
export function advanceRounds(rounds: Rounds, rows: readonly PageRow[]): void {
  rounds.page += 1;
  for (const { integratorId, since, id } of rows) {
    rounds.reached.set(integratorId, { since, id, page: rounds.page });
  }
  if (rows.length === 0) rounds.reached.clear();
}

/** Returns a table expression with the rows whose turn it is, at most `limit`. */
export function takeTurns({
  table,
  open,
  due,
  since,
  nulls = "last",
  limit,
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
    select own.id, own.since, row_number() over (
        order by own.turn / queue_weight(tenants.integrator_id), own.since nulls ${sql.raw(nulls)}, own.id) as place
      from tenants cross join lateral (
        select found.id, found.since,
            row_number() over (order by found.since nulls ${sql.raw(nulls)}, found.id)::float8 as turn
          from (
            select id, ${sql.ref(since)} as since ${from} and integrator_id = tenants.integrator_id and ${due}
              order by ${waiting} limit ${limit}
          ) as found
      ) as own
      where tenants.integrator_id is not null
      order by place limit ${limit}
  )`;
}

/**
 * Returns a table expression with the next page of waiting rows, at most `limit`: integrators take turns, each in rounds of
 * its own, and the ones whose last page is the oldest go first. Weights do not count: a page that is smaller than the number of
 * integrators would never reach those of little weight. `since` is never null.
 */
export function takePage({
  table,
  open,
  due,
  since,
  limit,
  rounds,
}: {
  readonly table: SharedTable & keyof Database;
  readonly open: Expression<SqlBool>;
  readonly due: Expression<SqlBool>;
  readonly since: string;
  readonly limit: number;
  readonly rounds: Rounds;
}): RawBuilder<Turn> {
  const from = sql`from ${sql.table(table)} where ${open}`;
  const column = sql.ref(since);
  const reached = [...rounds.reached];
  const part = (lap: 0 | 1, where: RawBuilder<SqlBool>) => sql`(
    select id, ${column} as since, ${sql.lit(lap)} as lap ${from} and integrator_id = tenants.integrator_id
      and ${due} and ${where} order by ${column}, id limit ${limit})`;
  const last = sql`(coalesce(reached.since, '-infinity'), coalesce(reached.id, ${NO_ID}::uuid))`;
  return sql<Turn>`(
    with recursive tenants as(
      (select integrator_id ${from} order by integrator_id limit 1)
      union all
      select (select integrator_id ${from} and integrator_id > tenants.integrator_id order by integrator_id limit 1)
        from tenants where tenants.integrator_id is not null
    ), reached as(
      select * from unnest(
        ${reached.map(([integratorId]) => integratorId)}::uuid[],
        ${reached.map(([, one]) => one.since)}::timestamptz[],
        ${reached.map(([, one]) => one.id)}::uuid[],
        ${reached.map(([, one]) => one.page)}::int[]
      ) as reached (integrator_id, since, id, page)
    )
    select own.id, own.since, row_number() over (
        order by own.turn, reached.page nulls first, own.since, own.id) as place
      from tenants left join reached on reached.integrator_id = tenants.integrator_id cross join lateral (
        select found.id, found.since, row_number() over (order by found.lap, found.since, found.id)::float8 as turn
          from (
            ${part(0, sql`(${column}, id) > ${last}`)}
            union all ${part(1, sql`(${column}, id) <= ${last}`)}
            order by lap, since, id limit ${limit}
          ) as found
      ) as own
      where tenants.integrator_id is not null
      order by place limit ${limit}
  )`;
}

/** Below every id. */
const NO_ID = "00000000-0000-0000-0000-000000000000";
