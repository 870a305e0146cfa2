/**
 * Answers to requests with an idempotency key. An execution holds a lease: if its process dies, the same request runs again
 * once the lease has ended. A late execution whose lease another one took stores nothing.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import { sql } from "kysely";
import type { Secret } from "../core/secret.ts";
import type { Db } from "../db/schema.ts";

/** One run of a request with an idempotency key. */
export interface Execution {
  readonly id: string;
  readonly integratorId: string;
  readonly key: string;
  /** Keyed hash of the request. */
  readonly fingerprint: Buffer;
}

/** The state of a key at the beginning of a request with it. */
export type Begun =
  | { readonly kind: "started" | "in_progress" | "other_request" | "quota_exceeded" }
  | { readonly kind: "answered"; readonly status: number; readonly body: string };

/** Longer than any request is answered, its work after the deadline included. */
const LEASE_MS = 120_000;
const KEPT_MS = 24 * 3_600_000;
/** Rows of one statement that deletes. */
const BATCH = 5_000;

interface StoreDeps {
  readonly db: Db;
  readonly pepper: Secret;
}

/** Begins an execution unless the key is in use, is another request's, or has its answer. */
export async function beginExecution(
  deps: StoreDeps & { readonly max: number },
  execution: Execution,
): Promise<Begun> {
  const known = await readKey(deps, execution);
  if (known) return known;
  if (await insertExecution(deps, execution)) return { kind: "started" };
  // Another request with the key was faster, or the integrator has too many keys.
  return (await readKey(deps, execution)) ?? { kind: "quota_exceeded" };
}

/** Stores the answer of an execution, unless another one took its lease. */
export async function storeAnswer(
  { db, pepper }: StoreDeps,
  execution: Execution,
  { status, body }: { readonly status: number; readonly body: string },
): Promise<void> {
  await db
    .updateTable("idempotency_keys")
    .set({ status, answer: encrypt(pepper, execution, body) })
    .where("integrator_id", "=", execution.integratorId)
    .where("key", "=", execution.key)
    .where("execution", "=", execution.id)
    .execute();
}

/** Frees the key of an execution without an answer to repeat. */
export async function releaseExecution(db: Db, execution: Execution): Promise<void> {
  await db
    .deleteFrom("idempotency_keys")
    .where("integrator_id", "=", execution.integratorId)
    .where("key", "=", execution.key)
    .where("execution", "=", execution.id)
    .where("status", "is", null)
    .execute();
}

/** Deletes expired keys. Returns whether there may be more. */
export async function deleteExpiredKeys(db: Db): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("idempotency_keys")
    .where(sql<string>`ctid`, "in", (expired) =>
      expired
        .selectFrom("idempotency_keys")
        .select(sql<string>`ctid`.as("ctid"))
        .where("expires_at", "<=", sql<string>`now()`)
        .limit(BATCH),
    )
    .executeTakeFirstOrThrow();
  return numDeletedRows === BigInt(BATCH);
}

/** Returns the state of a key that is in use or answered; undefined if an execution may begin. */
async function readKey(
  { db, pepper }: StoreDeps,
  execution: Execution,
): Promise<Begun | undefined> {
  const row = await db
    .selectFrom("idempotency_keys")
    .select(["fingerprint", "execution", "status", "answer"])
    .select(sql<boolean>`leased_until > now()`.as("isLeased"))
    .where("integrator_id", "=", execution.integratorId)
    .where("key", "=", execution.key)
    .where("expires_at", ">", sql<string>`now()`)
    .executeTakeFirst();
  if (!row) return undefined;
  if (!row.fingerprint.equals(execution.fingerprint)) return { kind: "other_request" };
  if (row.status !== null && row.answer !== null) {
    const body = decrypt(pepper, { ...execution, id: row.execution }, row.answer);
    return { kind: "answered", status: row.status, body };
  }
  return row.isLeased ? { kind: "in_progress" } : undefined;
}

/** Inserts an execution, or takes over a key that expired or whose lease ended. Returns whether it did. */
async function insertExecution(
  { db, max }: { readonly db: Db; readonly max: number },
  { id, integratorId, key, fingerprint }: Execution,
): Promise<boolean> {
  const after = (ms: number) => sql`now() + ${ms} * interval '1 millisecond'`;
  // The count reads the primary key only, and at most as many entries as there may be.
  const { rows } = await sql`
    insert into idempotency_keys as held (integrator_id, key, fingerprint, execution, leased_until, expires_at)
    select ${integratorId}::uuid, ${key}, ${fingerprint}::bytea, ${id}::uuid, ${after(LEASE_MS)}, ${after(KEPT_MS)}
    where exists (
        select from idempotency_keys where integrator_id = ${integratorId} and key = ${key})
      or (select count(*) from (
        select from idempotency_keys where integrator_id = ${integratorId} limit ${max}) as own) < ${max}
    on conflict (integrator_id, key) do update
      set fingerprint = excluded.fingerprint, execution = excluded.execution, status = null, answer = null,
        leased_until = excluded.leased_until, expires_at = excluded.expires_at
      where held.expires_at <= now()
        or (held.status is null and held.leased_until <= now() and held.fingerprint = excluded.fingerprint)
    returning 1`.execute(db);
  return rows.length === 1;
}

const TAG_BYTES = 16;

/** Returns key and nonce of an answer's cipher. Each execution has its own, so that a nonce never repeats under a key. */
function cipherOf(pepper: Secret, { id }: Execution) {
  const bytes = Buffer.from(hkdfSync("sha256", pepper.reveal(), id, "idempotent answer", 44));
  return { key: bytes.subarray(0, 32), nonce: bytes.subarray(32) };
}

/** The owner and key that an answer belongs to: it decrypts in no other row. */
const ownerOf = ({ integratorId, key }: Execution) => Buffer.from(`${integratorId} ${key}`);

function encrypt(pepper: Secret, execution: Execution, text: string): Buffer {
  const { key, nonce } = cipherOf(pepper, execution);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(ownerOf(execution));
  const encrypted = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([cipher.getAuthTag(), encrypted]);
}

function decrypt(pepper: Secret, execution: Execution, stored: Buffer): string {
  const { key, nonce } = cipherOf(pepper, execution);
  const decipher = createDecipheriv("aes-256-gcm", key, nonce)
    .setAAD(ownerOf(execution))
    .setAuthTag(stored.subarray(0, TAG_BYTES));
  return decipher.update(stored.subarray(TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
}
