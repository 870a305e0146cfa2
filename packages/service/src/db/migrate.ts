/**
 * Migrates a database to the newest schema: applies the files of `migrations/` in order of their names, each once.
 *
 * A process works with every schema between its own and the newest that is compatible with it. A migration extends the
 * schema, so that processes of the release before go on working; a later release removes what none of them uses, and
 * names the oldest release that still works (`-- compatible-from:`).
 */
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { OperatingError } from "../core/errors.ts";
import {
  FIRST_RELEASE,
  type MigrationFile,
  MIGRATIONS_FOLDER,
  parseIndexStatements,
  readMigrations,
} from "./migration-files.ts";
import type { Db } from "./schema.ts";

/** Class of the session-level lock under which one process migrates. */
const LOCK_CLASS = 14;
/** Pause between tries to get the lock. A waiting statement would block an index that is built concurrently. */
const RETRY_MS = 200;
/** Longest wait for another process that migrates. */
const PATIENCE_MS = 10 * 60_000;
/** Longest wait for the lock of a table, behind which all its other statements wait. */
const TABLE_LOCK_MS = 10_000;
const TABLE_LOCK_TRIES = 6;
const LOCK_NOT_AVAILABLE = "55P03";
const DEADLOCK = "40P01";

/**
 * Applies the missing migrations and returns their names. One process at a time does so, each migration in a transaction
 * together with its record; a concurrent one is repeated until it is complete.
 * @throws OperatingError CONFIG_MISSING if the schema is newer than this version.
 */
export async function migrateToLatest(
  db: Db,
  { folder = MIGRATIONS_FOLDER }: { readonly folder?: string } = {},
): Promise<string[]> {
  return db.connection().execute(async (session) => {
    await lock(session);
    const { rows } = await sql<{ timeout: string }>`
      select current_setting('statement_timeout') as timeout`.execute(session);
    try {
      // A migration may rewrite a table, which can exceed the limit of ordinary statements.
      await sql`set statement_timeout to 0`.execute(session);
      await createRecords(session);
      return await applyMissing(session, folder);
    } finally {
      await sql`select set_config('statement_timeout', ${rows[0]?.timeout ?? "0"}, false)`.execute(
        session,
      );
      await sql`select pg_advisory_unlock(${LOCK_CLASS}, 0)`.execute(session);
    }
  });
}

/**
 * Checks that this version works with the schema.
 * @throws OperatingError CONFIG_MISSING, with the command to run, if it does not.
 */
export async function assertMigrated(
  db: Db,
  { folder = MIGRATIONS_FOLDER }: { readonly folder?: string } = {},
): Promise<void> {
  const known = await readMigrations(folder);
  const applied = await listApplied(db);
  const names = new Set(applied.map(({ name }) => name));
  const missing = known.filter(({ name }) => !names.has(name));
  const newest = known.at(-1)?.name ?? "none";
  if (missing.length > 0) {
    throw new OperatingError(
      "CONFIG_MISSING",
      `The database schema is out of date (found ${applied.at(-1)?.name ?? "none"}, expected ${newest}; ${missing.length} missing). Run \`sluice migrate\`.`,
      { details: { missing: missing.length } },
    );
  }
  assertCompatible(applied, newest);
}

/** Returns the names of missing migrations. Changes nothing, not even in an empty database. */
export async function listMissingMigrations(db: Db): Promise<string[]> {
  const applied = new Set((await listApplied(db)).map(({ name }) => name));
  const known = await readMigrations(MIGRATIONS_FOLDER);
  return known.map(({ name }) => name).filter((name) => !applied.has(name));
}

/** Returns the name of this version's newest migration, such as `0001-initial`. */
export async function getNewestMigration(): Promise<string> {
  return (await readMigrations(MIGRATIONS_FOLDER)).at(-1)?.name ?? "none";
}

interface Applied {
  readonly name: string;
  readonly compatibleFrom: string;
}

/** A schema may be newer than this version, as long as the version is in the range that the schema supports. */
function assertCompatible(applied: readonly Applied[], newest: string): void {
  const oldest = applied
    .map(({ compatibleFrom }) => compatibleFrom)
    .reduce((one, other) => (one > other ? one : other), FIRST_RELEASE);
  if (oldest <= newest) return;
  throw new OperatingError(
    "CONFIG_MISSING",
    `The database schema is too new (found ${applied.at(-1)?.name}, which works with versions from schema ${oldest} on; this version has ${newest}). Run a newer version of sluice.`,
  );
}

async function lock(session: Db): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const { rows } = await sql<{ locked: boolean }>`
      select pg_try_advisory_lock(${LOCK_CLASS}, 0) as locked`.execute(session);
    if (rows[0]?.locked === true) return;
    if (Date.now() >= deadline) {
      throw new OperatingError(
        "CONFIG_MISSING",
        "Another process has been migrating the database for ten minutes. Wait for it, then run `sluice migrate` again.",
      );
    }
    await delay(RETRY_MS);
  }
}

/**
 * Creates the records of applied migrations. Those of the first release are also in the table from which its processes
 * read them, and no later ones: they refuse to start if that table has migrations that they do not know. A function
 * reads the records, because an attestor's user may not read further tables.
 */
async function createRecords(session: Db): Promise<void> {
  await session.transaction().execute(async (tx) => {
    await sql`
      create table if not exists kysely_migration (
        name varchar(255) primary key, timestamp varchar(255) not null);
      create table if not exists kysely_migration_lock (
        id varchar(255) primary key, is_locked integer not null default 0);
      insert into kysely_migration_lock values ('migration_lock', 0) on conflict do nothing;
      create table if not exists schema_migrations (
        name text primary key,
        compatible_from text not null,
        applied_at timestamptz(3) not null default clock_timestamp());
      create or replace function list_schema_migrations()
        returns table (name text, compatible_from text)
        language sql stable security definer as $$
          select name, compatible_from from schema_migrations order by name
        $$;
    `.execute(tx);
    // The search path of its owner's choice, so that a caller cannot put another table in the place of the records.
    await sql`
      do $$ begin
        execute format('alter function list_schema_migrations() set search_path to %I, pg_temp', current_schema());
      end $$`.execute(tx);
    await sql`insert into schema_migrations (name, compatible_from)
      select name, ${FIRST_RELEASE} from kysely_migration on conflict do nothing`.execute(tx);
    await sql`delete from kysely_migration where name > ${FIRST_RELEASE}`.execute(tx);
  });
}

async function applyMissing(session: Db, folder: string): Promise<string[]> {
  const applied = await listApplied(session);
  const names = new Set(applied.map(({ name }) => name));
  const known = await readMigrations(folder);
  assertCompatible(applied, known.at(-1)?.name ?? "none");
  const missing = known.filter(({ name }) => !names.has(name));
  for (const migration of missing) {
    if (migration.isConcurrent) await applyConcurrently(session, migration);
    else await applyInTransaction(session, migration);
  }
  return missing.map(({ name }) => name);
}

async function applyInTransaction(session: Db, migration: MigrationFile): Promise<void> {
  await repeatWhileLocked(() =>
    session.transaction().execute(async (tx) => {
      await sql`select set_config('lock_timeout', ${`${TABLE_LOCK_MS}ms`}, true)`.execute(tx);
      await sql.raw(migration.text).execute(tx);
      await record(tx, migration);
    }),
  );
}

/**
 * Repeats work that a lock prevented: the statements behind it run meanwhile. Running processes lock the tables in orders of
 * their own, so that a migration of several tables can meet a deadlock.
 */
async function repeatWhileLocked(work: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      const isLocked = code === LOCK_NOT_AVAILABLE || code === DEADLOCK;
      if (!isLocked || tries >= TABLE_LOCK_TRIES) throw error;
      await delay(RETRY_MS);
    }
  }
}

/** Builds indexes without blocking writes. A build that ended early leaves an invalid index, which is built again. */
async function applyConcurrently(session: Db, migration: MigrationFile): Promise<void> {
  for (const { kind, index, text } of parseIndexStatements(migration)) {
    await repeatWhileLocked(async () => {
      const state = await readIndexState(session, index);
      if (state === "invalid" || (kind === "drop" && state === "valid")) {
        await sql`drop index concurrently ${sql.id(index)}`.execute(session);
      }
      if (kind === "create" && state !== "valid") await sql.raw(text).execute(session);
    });
  }
  await record(session, migration);
}

async function readIndexState(session: Db, index: string): Promise<"valid" | "invalid" | "none"> {
  const { rows } = await sql<{ is_valid: boolean }>`
    select indisvalid as is_valid from pg_index where indexrelid = to_regclass(${index})`.execute(
    session,
  );
  if (rows[0] === undefined) return "none";
  return rows[0].is_valid ? "valid" : "invalid";
}

async function record(db: Db, { name, compatibleFrom }: MigrationFile): Promise<void> {
  await sql`insert into schema_migrations (name, compatible_from)
    values (${name}, ${compatibleFrom})`.execute(db);
  if (name > FIRST_RELEASE) return;
  await sql`insert into kysely_migration (name, timestamp)
    values (${name}, to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`.execute(
    db,
  );
}

/** Returns the applied migrations in the order of their names. A database of the first release has its own records. */
async function listApplied(db: Db): Promise<readonly Applied[]> {
  const { rows } = await sql<{ ours: boolean; first: boolean }>`
    select to_regprocedure('list_schema_migrations()') is not null as ours,
           to_regclass('kysely_migration') is not null as first`.execute(db);
  const [found] = rows;
  if (found?.ours === true) {
    const applied = await sql<{ name: string; compatible_from: string }>`
      select name, compatible_from from list_schema_migrations()`.execute(db);
    return applied.rows
      .map(({ name, compatible_from: compatibleFrom }) => ({ name, compatibleFrom }))
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  }
  if (found?.first !== true) return [];
  const applied = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  return applied.rows
    .map(({ name }) => ({ name, compatibleFrom: FIRST_RELEASE }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}
