/** Migrates a database to the newest schema: applies the files of `migrations/` in order of their names, each once. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { OperatingError } from "../core/errors.ts";
import type { Db } from "./schema.ts";

const FOLDER = join(import.meta.dirname, "../../migrations");

/**
 * Applies the missing migrations and returns their names. All run in one transaction under an advisory lock, so that
 * concurrent starts are safe and a failure changes nothing.
 */
export async function migrateToLatest(db: Db): Promise<string[]> {
  const { error, results } = await createMigrator(db).migrateToLatest();
  if (error !== undefined) throw toMigrationError(error);
  return (results ?? []).map((result) => result.migrationName);
}

/** Throws CONFIG_MISSING unless every migration is applied. */
export async function assertMigrated(db: Db): Promise<void> {
  const missing = await listMissingMigrations(db);
  if (missing.length === 0) return;
  throw new OperatingError(
    "CONFIG_MISSING",
    `The database lacks ${missing.length} migration(s): run \`sluice migrate\` first.`,
    { details: { missing: missing.length } },
  );
}

/** Returns the names of missing migrations. Changes nothing, not even in an empty database. */
export async function listMissingMigrations(db: Db): Promise<string[]> {
  const migrations = await createMigrator(db).getMigrations();
  return migrations.filter(({ executedAt }) => executedAt === undefined).map(({ name }) => name);
}

/** Returns the name of this version's newest migration, such as `0001-initial`. */
export async function getNewestMigration(): Promise<string> {
  return (await listFiles()).at(-1)?.slice(0, -".sql".length) ?? "none";
}

async function listFiles(): Promise<string[]> {
  return (await readdir(FOLDER)).filter((name) => name.endsWith(".sql")).sort();
}

function createMigrator(db: Db): Migrator {
  return new Migrator({ db, provider: { getMigrations: readMigrations } });
}

async function readMigrations(): Promise<Record<string, Migration>> {
  const migrations: Record<string, Migration> = {};
  for (const file of await listFiles()) {
    const text = await readFile(join(FOLDER, file), "utf8");
    migrations[file.slice(0, -".sql".length)] = {
      async up(tx) {
        // A migration may rewrite a table, which can exceed the limit of ordinary statements.
        await sql`set local statement_timeout to 0`.execute(tx);
        await sql.raw(text).execute(tx);
      },
    };
  }
  return migrations;
}

function toMigrationError(cause: unknown): unknown {
  if (cause instanceof Error && cause.message.startsWith("corrupted migrations")) {
    return new OperatingError(
      "CONFIG_MISSING",
      "The database was migrated by another version of the service.",
      { cause },
    );
  }
  return cause;
}
