/**
 * Restores a backup. Nothing that exists is overwritten: the database must be empty, and of two journals of one signer the
 * longer one stays. A restored service signs nothing on a chain that is ahead of its database until an operator has looked.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { sql } from "kysely";
import { OperatingError } from "../core/errors.ts";
import type { DatabaseAddress } from "../db/pool.ts";
import type { Db } from "../db/schema.ts";
import { DUMP, type Manifest, verifyBackup } from "./manifest.ts";
import { flush } from "./flush.ts";
import { restoreDatabase } from "./postgres-tools.ts";

/** What became of a file of a backup. */
export interface Restored {
  readonly path: string;
  readonly outcome: "restored" | "kept";
}

/**
 * Verifies a backup and restores it.
 * @throws OperatingError CONFIG_MISSING, before anything is changed, if it is damaged, the database has tables, or a file of
 * this machine is no part of the same history
 */
export async function restoreBackup(
  target: {
    /** Null for a backup without one. */
    readonly database: { readonly db: Db; readonly address: DatabaseAddress } | null;
    /** Where the journals of this machine belong. */
    readonly journals: readonly string[];
    /** Where the keystores of this machine belong, by their settings. */
    readonly keystores: readonly { readonly setting: string; readonly path: string }[];
  },
  folder: string,
): Promise<{ readonly manifest: Manifest; readonly files: readonly Restored[] }> {
  const manifest = await verifyBackup(folder);
  const { database } = target;
  if (database) await assertEmpty(database.db);
  const journals = manifest.journals.flatMap(({ path }) => {
    const to = target.journals.find((one) => basename(one) === basename(path));
    return to === undefined ? [] : [planJournal(join(folder, path), to)];
  });
  const keystores = manifest.keystores.flatMap(({ path, setting }) => {
    const to = target.keystores.find((one) => one.setting === setting)?.path;
    return to === undefined ? [] : [planKeystore(join(folder, path), to)];
  });
  const files = [...journals, ...keystores];
  // Before the database: a signer must never run on it without the journal, also where this ends here.
  for (const { from, to, outcome } of files) if (outcome === "restored") place(from, to);
  if (database) await restoreDatabase(database.address, join(folder, DUMP));
  return { manifest, files: files.map(({ to, outcome }) => ({ path: to, outcome })) };
}

interface Plan {
  readonly from: string;
  readonly to: string;
  readonly outcome: Restored["outcome"];
}

async function assertEmpty(db: Db): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
     where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace
     order by relname limit 1`.execute(db);
  const [table] = rows;
  if (!table) return;
  throw new OperatingError(
    "CONFIG_MISSING",
    `The database has the table ${table.name}: expected no tables. Create another database, or drop the tables of this one.`,
  );
}

/** A journal only grows, so of two the longer one knows every signature of both, or they are of two histories. */
function planJournal(from: string, to: string): Plan {
  if (!existsSync(to)) return { from, to, outcome: "restored" };
  const [ours, theirs] = [readFileSync(to), readFileSync(from)];
  if (ours.subarray(0, theirs.length).equals(theirs)) return { from, to, outcome: "kept" };
  const complete = ours.subarray(0, ours.lastIndexOf(0x0a) + 1);
  if (theirs.subarray(0, complete.length).equals(complete))
    return { from, to, outcome: "restored" };
  throw new OperatingError(
    "CONFIG_MISSING",
    `${to}: expected a journal that begins like the one of the backup. It is of another installation: move it away.`,
  );
}

function planKeystore(from: string, to: string): Plan {
  if (!existsSync(to)) return { from, to, outcome: "restored" };
  if (readFileSync(to).equals(readFileSync(from))) return { from, to, outcome: "kept" };
  throw new OperatingError(
    "CONFIG_MISSING",
    `${to}: expected the keystore of the backup, or no file. A key may have been rotated since: move one of them away.`,
  );
}

/** Places a file so that a power failure leaves the old one or the new one. */
function place(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  const partial = `${to}.restoring`;
  copyFileSync(from, partial);
  flush(partial);
  renameSync(partial, to);
  flush(dirname(to));
}
