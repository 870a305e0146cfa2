/**
 * Alerts on claims that are not made. From 72 hours after a lock its refund authority can take it back, also where the
 * payout was made: the operator then loses the whole delivery. The alerts become louder and more frequent with the age of
 * the lock; they are written from the rows, so that a restart or another process changes nothing.
 */
import { sql } from "kysely";
import type { Clock } from "../../core/ports.ts";
import type { Db } from "../../db/schema.ts";
import type { Log } from "../../telemetry/log.ts";

const HOUR_S = 3_600;

/** Stages by the hours since the lock. */
export const CLAIM_STAGES = [
  { kind: "6h", afterS: 6 * HOUR_S, level: "warn", everyMs: 3_600_000 },
  { kind: "24h", afterS: 24 * HOUR_S, level: "error", everyMs: 900_000 },
  { kind: "48h", afterS: 48 * HOUR_S, level: "fatal", everyMs: 300_000 },
] as const;

/** Returns the stages as a table of `kind` and `after_s`. */
export const stagesTable = sql`(values ${sql.join(
  CLAIM_STAGES.map(({ kind, afterS }) => sql`(${kind}, ${afterS}::bigint)`),
)}) as stage (kind, after_s)`;

const LOOK_MS = 60_000;

/**
 * Creates the poll that logs the overdue claims of the chains that this process works on, each stage at its own level and
 * interval. Returns false.
 */
export function createOverdueClaimsPoll({
  db,
  clock,
  log,
  worksOn,
}: {
  readonly db: Db;
  readonly clock: Clock;
  readonly log: Log;
  readonly worksOn: (chainId: number) => boolean;
}): () => Promise<boolean> {
  let nextLookMs = 0;
  const loggedMs = new Map<string, number>();
  return async () => {
    const nowMs = clock.now();
    if (nowMs < nextLookMs) return false;
    nextLookMs = nowMs + LOOK_MS;
    const overdue = (await listOverdueClaims(db, nowMs)).filter(({ srcChain }) =>
      worksOn(srcChain),
    );
    for (const { kind, level, everyMs } of CLAIM_STAGES) {
      const lastMs = loggedMs.get(kind);
      if (lastMs !== undefined && nowMs - lastMs < everyMs) continue;
      const claims = overdue.filter((claim) => claim.kind === kind);
      const [oldest] = claims;
      if (!oldest) continue;
      loggedMs.set(kind, nowMs);
      const facts = { count: claims.length, deliveryId: oldest.id, chainId: oldest.srcChain };
      const takeBackInS = oldest.lockedAt + 72 * HOUR_S - Math.floor(nowMs / 1000);
      log[level]({ ...facts, takeBackInS }, `claim not made ${kind} after its lock`);
    }
    return false;
  };
}

/** Most claims that one look counts. */
const CLAIMS_MAX = 1_000;

/** Lists claims that are not made, each under its last stage, the oldest first. */
export async function listOverdueClaims(db: Db, nowMs: number) {
  const nowS = BigInt(Math.floor(nowMs / 1000));
  const { rows } = await sql<{
    id: string;
    src_chain: number;
    locked_at: string;
    kind: string;
  }>`
    select d.id, d.src_chain, d.locked_at::text, stage.kind
      from deliveries d cross join lateral (
        select kind from ${stagesTable} where after_s <= ${nowS} - d.locked_at
          order by after_s desc limit 1
      ) stage
     where d.state in ('delivered', 'claiming')
     order by d.locked_at limit ${CLAIMS_MAX}`.execute(db);
  return rows.map(({ id, src_chain: srcChain, locked_at: lockedAt, kind }) => {
    return { id, srcChain, lockedAt: Number(lockedAt), kind };
  });
}
