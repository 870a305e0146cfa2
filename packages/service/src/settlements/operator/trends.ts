/** Durations and numbers of completed settlements over time. */
import { sql } from "kysely";
import type { Db } from "../../db/schema.ts";

/** The completed settlements of one span of time. */
export interface CompletedSpan {
  /** The span's place, counted from the oldest. */
  readonly place: number;
  readonly count: number;
  /** Seconds from the settlement's creation to its completion: half took at most, and 95 of a hundred. */
  readonly p50S: number;
  readonly p95S: number;
}

/** The completed settlements of one route in one span. */
export interface RouteSpan {
  readonly place: number;
  readonly route: string;
  readonly count: number;
}

/** Reads spans of `spanMs` from `fromMs` on; those without a completed settlement are absent. */
export async function listCompletedSpans(
  db: Db,
  { fromMs, spanMs }: { readonly fromMs: number; readonly spanMs: number },
): Promise<{ readonly all: readonly CompletedSpan[]; readonly byRoute: readonly RouteSpan[] }> {
  const { rows } = await sql<{
    place: number;
    route: string | null;
    is_all: boolean;
    count: bigint;
    p50: number;
    p95: number;
  }>`
    select place, route, (grouping(route) = 1) as is_all, count(*) as count,
           percentile_cont(0.5) within group (order by seconds) as p50,
           percentile_cont(0.95) within group (order by seconds) as p95
      from (select floor((extract(epoch from updated_at) * 1000 - ${fromMs}::float8) / ${spanMs}::float8)::integer as place,
                   route, extract(epoch from updated_at - created_at)::float8 as seconds
              from settlements
             where status = 'completed' and updated_at >= to_timestamp(${fromMs}::float8 / 1000)) done
     group by grouping sets ((place), (place, route)) order by place`.execute(db);
  return {
    all: rows.flatMap((row) =>
      row.is_all
        ? [{ place: row.place, count: Number(row.count), p50S: row.p50, p95S: row.p95 }]
        : [],
    ),
    byRoute: rows.flatMap((row) =>
      row.is_all || row.route === null
        ? []
        : [{ place: row.place, route: row.route, count: Number(row.count) }],
    ),
  };
}
