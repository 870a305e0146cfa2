/** Comparisons of rows with the chains. */
import type { Clock } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import { auditDelay } from "../jobs/delays.ts";
import type { Finding } from "./breaches.ts";

/** Rows compared at the same time: a full audit asks each chain a few questions for every row ever written. */
const ROWS_AT_ONCE = 16;

/** Findings of some rows, and the first error of a row that could not be compared; null without one. */
export interface Found {
  readonly findings: readonly Finding[];
  readonly error: unknown;
}

/** Compares all rows and returns the findings in their order. A row that cannot be compared hides no other. */
export async function mapAtOnce<Row>(
  rows: readonly Row[],
  compare: (row: Row) => Promise<readonly Finding[]>,
): Promise<Found> {
  const findings: Finding[] = [];
  let error: unknown = null;
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const some = rows.slice(from, from + ROWS_AT_ONCE);
    for (const result of await Promise.allSettled(some.map(compare))) {
      if (result.status === "fulfilled") findings.push(...result.value);
      else error ??= result.reason;
    }
  }
  return { findings, error };
}

/** Change of a recorded delivery by its audit. */
export type Audited = { readonly audited: true } | { readonly audit_again_at: string };

/** Recorded deliveries that a round compares at most, in pages: more per second than a process settles. */
const PAGE_ROWS = 200;
const PAGES_MAX = 20;

/** A recorded delivery. */
interface AuditedRow {
  readonly id: string;
  /** When its payout was seen, in Unix milliseconds. */
  readonly seen_ms: number;
}

/**
 * Compares recorded deliveries, each until it is proved once. In parts (`next`) a page goes to the end of the queue before
 * it is compared, and a row that cannot be proved yet waits for a quarter of its age: however many there are, each other row
 * has its turn. While a page is full and something of it is proved, the next one follows.
 */
export async function auditInTurns<Row extends AuditedRow>(
  { clock }: { readonly clock: Clock },
  {
    list,
    scope,
    compare,
    record,
  }: {
    /** Returns the rows that are due, those never compared first; all of them without a limit. */
    readonly list: (limit: number | null) => Promise<readonly Row[]>;
    readonly scope: "next" | "all";
    readonly compare: (
      row: Row,
    ) => Promise<{ readonly findings: readonly Finding[]; readonly isProved: boolean }>;
    readonly record: (ids: readonly string[], change: Audited) => Promise<unknown>;
  },
): Promise<Found> {
  const findings: Finding[] = [];
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const rows = await list(scope === "all" ? null : PAGE_ROWS);
    const nowMs = clock.now();
    if (scope === "next" && rows.length > 0) {
      await record(
        rows.map(({ id }) => id),
        { audit_again_at: formatStamp(nowMs) },
      );
    }
    const proved: string[] = [];
    const found = await mapAtOnce(rows, async (row) => {
      const { findings: own, isProved } = await compare(row);
      const againAtMs = nowMs + auditDelay(nowMs - row.seen_ms);
      if (isProved) proved.push(row.id);
      else await record([row.id], { audit_again_at: formatStamp(againAtMs) });
      return own;
    });
    if (proved.length > 0) await record(proved, { audited: true });
    findings.push(...found.findings);
    const hasMore = scope === "next" && rows.length === PAGE_ROWS && proved.length > 0;
    // A finding stops the chain once the round ends, so it waits for no further page.
    if (found.error !== null || findings.length > 0 || !hasMore) {
      return { findings, error: found.error };
    }
  }
  return { findings, error: null };
}
