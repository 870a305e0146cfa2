import { sql } from "kysely";
import type { Db } from "../db/schema.ts";
import { formatStamp } from "../core/stamp.ts";

/** Records a finished backup, for the doctor. Times in Unix milliseconds. */
export async function recordBackup(
  db: Db,
  { startedMs, finishedMs, bytes }: { startedMs: number; finishedMs: number; bytes: number },
): Promise<void> {
  await db
    .insertInto("backups")
    .values({
      started_at: formatStamp(startedMs),
      finished_at: formatStamp(finishedMs),
      bytes: BigInt(bytes),
    })
    .execute();
}

/** Returns when the newest recorded backup began, and when the server archived its newest WAL segment; null for never. */
export async function getNewestBackup(
  db: Db,
): Promise<{ readonly backup: string | null; readonly archived: string | null }> {
  const row = await db
    .selectFrom("backups")
    .select(({ fn }) => fn.max("started_at").as("backup"))
    .executeTakeFirst();
  const { rows } = await sql<{ archived: string | null }>`
    select last_archived_time as archived from pg_stat_archiver`.execute(db);
  return { backup: row?.backup ?? null, archived: rows[0]?.archived ?? null };
}
