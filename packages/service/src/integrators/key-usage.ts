/** The use of API keys, counted in the processes and added to their rows at intervals. */
import { sql } from "kysely";
import type { Db } from "../db/schema.ts";

/** The use of a key since it was last added. */
export interface KeyUse {
  readonly keyId: string;
  /** Time of the last request, in milliseconds since the epoch. */
  readonly lastUsedMs: number;
  readonly requests: number;
  readonly nodeRequests: number;
}

/** The use of a key on one day (UTC). */
export interface UsageDay {
  readonly day: string;
  readonly requests: number;
  readonly nodeRequests: number;
}

/** Days of usage that a key is shown, today included. */
const SHOWN_DAYS = 30;
/** Days after which usage is deleted. */
const KEPT_DAYS = 90;

/** Adds the use of keys, in one statement per table. The rows are locked in the order of their ids. */
export async function addKeyUse(db: Db, uses: readonly KeyUse[]): Promise<void> {
  if (uses.length === 0) return;
  const rows = JSON.stringify(uses.toSorted((one, other) => (one.keyId < other.keyId ? -1 : 1)));
  const used = sql`jsonb_to_recordset(${rows}::jsonb) as used (
    "keyId" uuid, "lastUsedMs" float8, "requests" bigint, "nodeRequests" bigint)`;
  await db.transaction().execute(async (tx) => {
    await sql`
      insert into key_usage (key_id, day, requests, node_requests)
      select "keyId", (now() at time zone 'UTC')::date, "requests", "nodeRequests" from ${used}
      on conflict (key_id, day) do update set
        requests = key_usage.requests + excluded.requests,
        node_requests = key_usage.node_requests + excluded.node_requests`.execute(tx);
    await sql`
      update api_keys set last_used_at = greatest(last_used_at, to_timestamp("lastUsedMs" / 1000))
      from ${used} where api_keys.id = "keyId"`.execute(tx);
  });
}

/** Returns the latest days of a key's use, newest first, without days of no request. */
export async function readKeyUsage(db: Db, keyId: string): Promise<readonly UsageDay[]> {
  const rows = await db
    .selectFrom("key_usage")
    .select([sql<string>`day::text`.as("day"), "requests", "node_requests"])
    .where("key_id", "=", keyId)
    .where("day", ">", sql<string>`(now() at time zone 'UTC')::date - ${SHOWN_DAYS}::int`)
    .orderBy("key_usage.day", "desc")
    .execute();
  return rows.map(({ day, requests, node_requests: nodeRequests }) => ({
    day,
    requests: Number(requests),
    nodeRequests: Number(nodeRequests),
  }));
}

/** Deletes usage of long ago. */
export async function deleteOldKeyUsage(db: Db): Promise<void> {
  await db
    .deleteFrom("key_usage")
    .where("day", "<", sql<string>`(now() at time zone 'UTC')::date - ${KEPT_DAYS}::int`)
    .execute();
}
