/**
 * Metrics read from the database with one query per scrape. Each part is bounded by the work in progress: it reads
 * partial indexes without ended rows. Only the process that has a role shows its rows, so each value has one source.
 */
import { type RawBuilder, sql } from "kysely";
import { CONTRACT_VERDICTS } from "../chains/port/index.ts";
import type { Clock } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db } from "../db/schema.ts";
import { OF_HALTS, OF_UNPROVED } from "../ledger/index.ts";
import type { RowGauge } from "../telemetry/row-gauge.ts";

/** One value; `name` selects the gauge, the other fields are its labels. */
export interface Row {
  /** One of the names below, or of a gauge that was handed over. */
  readonly name: string;
  readonly chainId: number | null;
  /** A status, state, kind, token or lane. */
  readonly label: string | null;
  readonly value: number;
  /** Seconds since the oldest of what was counted; null without any. */
  readonly oldestS: number | null;
}

export type RowName =
  | "scanned"
  | "final"
  | "settlements"
  | "held"
  | "reserved"
  | "nonces"
  | "queued"
  | "stuck"
  | "next_nonce"
  | "breaches"
  | "quarantines"
  | "unproved"
  | "audited"
  | "governance"
  | "watched";

export interface Rows {
  /** The rows of roles. Throws when the database does not answer. */
  read(roles: readonly string[]): Promise<readonly Row[]>;
}

/** Reverts that hold settlements until the operator, or another party, changes a contract's state. */
const HOLDING_REASONS = Object.entries(CONTRACT_VERDICTS).flatMap(([reason, verdict]) =>
  verdict === "deferral" ? [reason] : [],
);

/** Requests within this time share one answer. */
const CACHE_MS = 1_000;
/** A transaction whose first attempt is older than this and not mined is stuck, whatever fees replaced it. */
const STUCK_AFTER_MS = 300_000;

export function createRows({
  db,
  clock,
  gauges,
}: {
  readonly db: Db;
  readonly clock: Clock;
  /** Gauges of the route kinds. */
  readonly gauges: readonly RowGauge[];
}): Rows {
  let last: { readonly key: string; readonly atMs: number; rows: Promise<Row[]> } | undefined;
  return {
    read(roles) {
      const key = roles.join(",");
      const nowMs = clock.now();
      if (last?.key === key && nowMs - last.atMs < CACHE_MS) return last.rows;
      last = { key, atMs: nowMs, rows: query(db, nowMs, roles, gauges) };
      return last.rows;
    },
  };
}

async function query(
  db: Db,
  nowMs: number,
  roles: readonly string[],
  gauges: readonly RowGauge[],
): Promise<Row[]> {
  const now = formatStamp(nowMs);
  const age = sql`extract(epoch from ${now}::timestamptz - min(created_at))::float8`;
  const parts = roles.flatMap((role) => [
    ...(PARTS[role]?.(age, nowMs) ?? []),
    ...gauges.filter((gauge) => gauge.role === role).map((gauge) => gauge.select(age, nowMs)),
  ]);
  // A role without a part still tests whether the database answers.
  const all = [
    sql`select null::text as name, null::integer as chain_id, null::text as label,
        0::float8 as value, null::float8 as oldest where false`,
    ...parts,
  ];
  const { rows } = await sql<{
    name: string;
    chain_id: number | null;
    label: string | null;
    value: number;
    oldest: number | null;
  }>`${sql.join(all, sql` union all `)}`.execute(db);
  return rows.map((row) => ({
    name: row.name,
    chainId: row.chain_id,
    label: row.label,
    value: row.value,
    oldestS: row.oldest === null ? null : Math.max(0, row.oldest),
  }));
}

type Part = (age: RawBuilder<unknown>, nowMs: number) => readonly RawBuilder<unknown>[];

const PARTS: Readonly<Record<string, Part>> = {
  scanner: () => [
    // A window of at most 512 blocks a chain.
    sql`select 'scanned', chain_id, null, max(number)::float8, null
        from scanner_blocks group by chain_id`,
    sql`select 'final', chain_id, null, number::float8, null from scanner_finality`,
  ],
  settler: (age, nowMs) => [
    sql`select 'settlements', chain_id, status, count(*)::float8, ${age}
        from settlements where status not in ('completed', 'dead') group by chain_id, status`,
    sql`select 'held', chain_id, error_details->>'reason', count(*)::float8, ${age}
        from settlements where status not in ('completed', 'dead') and error_code = 'NO_ROUTE'
        and error_details->>'reason' in (${sql.join(HOLDING_REASONS)})
        group by chain_id, error_details->>'reason'`,
    sql`select 'reserved', dest_chain, token, sum(amount)::float8, ${age}
        from inventory_reservations group by dest_chain, token`,
    // A batch counts once: its members have no nonce of their own.
    sql`select 'nonces', chain_id, lane, count(*)::float8, ${age}
        from transactions where state = 'assigned' group by chain_id, lane`,
    sql`select 'queued', chain_id, lane, count(*)::float8, ${age}
        from transactions where state = 'queued' group by chain_id, lane`,
    sql`select 'stuck', chain_id, lane, count(*)::float8, null
        from transactions join attempts on transaction_id = id and number = 1
        where state = 'assigned'
        and attempts.created_at <= ${formatStamp(nowMs - STUCK_AFTER_MS)} group by chain_id, lane`,
    sql`select 'next_nonce', chain_id, address, next_nonce::float8, null from lanes`,
  ],
  auditor: (_, nowMs) => [
    sql`select 'breaches', r.chain_id, null, count(b.id)::float8, null from audit_rounds r
        left join breaches b on b.chain_id = r.chain_id and ${OF_HALTS} group by r.chain_id`,
    sql`select 'unproved', r.chain_id, null, count(b.id)::float8, null from audit_rounds r
        left join breaches b on b.chain_id = r.chain_id and ${OF_UNPROVED} group by r.chain_id`,
    sql`select 'quarantines', r.chain_id, null, count(b.id)::float8, null from audit_rounds r
        left join breaches b on b.chain_id = r.chain_id and b.ended_at is null and b.wallet is not null
        group by r.chain_id`,
    sql`select 'audited', chain_id, null,
        extract(epoch from ${formatStamp(nowMs)}::timestamptz - at)::float8, null from audit_rounds`,
    sql`select 'governance', w.chain_id, null, count(c.id)::float8, null from governance_watches w
        left join governance_changes c on c.chain_id = w.chain_id and c.unexpected group by w.chain_id`,
    sql`select 'watched', chain_id, null,
        extract(epoch from ${formatStamp(nowMs)}::timestamptz - complete_at)::float8, null
        from governance_watches where complete_at is not null`,
  ],
};
