/**
 * Makes a backup. Invariant: its journals are newer than its database. A journal that lacked a signature that the database knows
 * would let the signer sign another one in its place; a database that lacks what a journal knows only stops.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { OperatingError } from "../core/errors.ts";
import type { Clock } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import { getNewestMigration } from "../db/migrate.ts";
import type { DatabaseAddress } from "../db/pool.ts";
import type { Db } from "../db/schema.ts";
import { verifyJournal } from "../signers/journal.ts";
import { flush } from "./flush.ts";
import { describeFile, DUMP, JOURNALS, KEYSTORES, MANIFEST, type Manifest } from "./manifest.ts";
import { dumpDatabase } from "./postgres-tools.ts";
import { recordBackup } from "./store.ts";

/** What a backup is made of. */
export interface BackupSource {
  /** Null on a machine that only signs. */
  readonly database: {
    readonly db: Db;
    readonly address: DatabaseAddress;
    /** Newest scanned height of each chain. */
    readonly scanned: readonly { readonly chainId: number; readonly height: bigint }[];
  } | null;
  readonly clock: Clock;
  /** Version of this service. */
  readonly version: string;
  /** Journals of this machine's signers, which may not exist yet. */
  readonly journals: readonly string[];
  /** Keystores of this machine. They are encrypted, and useless without their passphrase. */
  readonly keystores: readonly { readonly setting: string; readonly path: string }[];
}

/**
 * Makes a backup in a new folder, which only its owner can read. A backup that fails leaves no folder.
 * @throws OperatingError CONFIG_MISSING if the folder exists, or PostgreSQL's programs fail
 */
export async function createBackup(source: BackupSource, folder: string): Promise<Manifest> {
  if (existsSync(folder)) {
    throw new OperatingError(
      "CONFIG_MISSING",
      `${folder}: expected a folder that does not exist yet.`,
    );
  }
  const partial = `${folder}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true, mode: 0o700 });
  try {
    const startedMs = source.clock.now();
    const { database } = source;
    if (database) await dumpDatabase(database.address, join(partial, DUMP));
    const journals = copyJournals(source.journals, partial);
    const keystores = copyKeystores(source.keystores, partial);
    const paths = [
      ...(database ? [DUMP] : []),
      ...journals.map(({ path }) => path),
      ...keystores.map(({ path }) => path),
    ];
    const files = [];
    for (const path of paths) files.push(await describeFile(partial, path));
    const finishedMs = source.clock.now();
    const manifest: Manifest = {
      format: 1,
      version: source.version,
      schema: await getNewestMigration(),
      startedAt: formatStamp(startedMs),
      finishedAt: formatStamp(finishedMs),
      files,
      scanned: (database?.scanned ?? []).map(({ chainId, height }) => ({
        chainId,
        height: String(height),
      })),
      journals,
      keystores,
    };
    writeFileSync(join(partial, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`, {
      mode: 0o600,
    });
    for (const path of [MANIFEST, ...paths]) flush(join(partial, path));
    flush(partial);
    renameSync(partial, folder);
    flush(dirname(folder));
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    if (database) await recordBackup(database.db, { startedMs, finishedMs, bytes });
    return manifest;
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

/** Copies the complete lines of journals, to which signers may append meanwhile. */
function copyJournals(journals: readonly string[], folder: string): Manifest["journals"] {
  const existing = journals.filter((path) => existsSync(path));
  if (existing.length > 0) mkdirSync(join(folder, JOURNALS), { mode: 0o700 });
  return existing.map((from) => {
    const path = `${JOURNALS}/${basename(from)}`;
    const lines = readFileSync(from);
    const complete = lines.subarray(0, lines.lastIndexOf(0x0a) + 1);
    writeFileSync(join(folder, path), complete, { mode: 0o600 });
    return { path, entries: verifyJournal(join(folder, path)).count };
  });
}

function copyKeystores(
  keystores: BackupSource["keystores"],
  folder: string,
): Manifest["keystores"] {
  const existing = keystores.filter(({ path }) => existsSync(path));
  if (existing.length > 0) mkdirSync(join(folder, KEYSTORES), { mode: 0o700 });
  return existing.map(({ setting, path: from }) => {
    const path = `${KEYSTORES}/${setting}.json`;
    copyFileSync(from, join(folder, path));
    return { path, setting, from };
  });
}
