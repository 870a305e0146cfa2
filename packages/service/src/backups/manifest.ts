/** The list of a backup's files, by which it is verified before it is used. */
import { createHash } from "node:crypto";
import { createReadStream, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { OperatingError } from "../core/errors.ts";
import { verifyJournal } from "../signers/journal.ts";
import { listDump } from "./postgres-tools.ts";

export const MANIFEST = "manifest.json";
export const DUMP = "database.dump";
export const JOURNALS = "signers";
export const KEYSTORES = "keystores";

const Time = Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$" });
/** Below the backup's folder. */
const Path = Type.String({
  pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9[][A-Za-z0-9._[\\]-]*)?$",
});

export const Manifest = Type.Object(
  {
    format: Type.Literal(1),
    /** Version of the service that made it. */
    version: Type.String(),
    /** Newest migration of the database. */
    schema: Type.String(),
    /** The database is as it was at this time or later; journals and keystores are newer. */
    startedAt: Time,
    finishedAt: Time,
    files: Type.Array(
      Type.Object({
        path: Path,
        bytes: Type.Integer({ minimum: 0 }),
        sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
      }),
    ),
    /** Newest scanned block of each chain in the database. */
    scanned: Type.Array(
      Type.Object({ chainId: Type.Integer(), height: Type.String({ pattern: "^\\d+$" }) }),
    ),
    /** Entries of each journal. */
    journals: Type.Array(Type.Object({ path: Path, entries: Type.Integer() })),
    /** Where each keystore was, by its file here. */
    keystores: Type.Array(Type.Object({ path: Path, setting: Type.String(), from: Type.String() })),
  },
  { additionalProperties: false },
);
export type Manifest = Static<typeof Manifest>;

/** Describes a file of a backup. */
export async function describeFile(folder: string, path: string) {
  const full = join(folder, path);
  const hash = createHash("sha256");
  await pipeline(createReadStream(full), hash);
  return { path, bytes: statSync(full).size, sha256: hash.digest("hex") };
}

/**
 * Verifies a backup: its files, the chain of hashes of each journal, and that PostgreSQL reads the snapshot.
 * @throws OperatingError CONFIG_MISSING that names the file
 */
export async function verifyBackup(folder: string): Promise<Manifest> {
  const manifest = readManifest(folder);
  for (const expected of manifest.files) {
    const found = await describeFile(folder, expected.path).catch(() => null);
    if (found?.sha256 === expected.sha256) continue;
    const what = found
      ? `another content (${found.bytes} bytes, expected ${expected.bytes})`
      : "no file";
    throw damaged(join(folder, expected.path), what);
  }
  for (const { path, entries } of manifest.journals) {
    const { count } = verifyJournal(join(folder, path));
    if (count !== entries)
      throw damaged(join(folder, path), `${count} entries, expected ${entries}`);
  }
  if (hasDatabase(manifest)) await listDump(join(folder, DUMP));
  return manifest;
}

/** Reports whether a backup has the database: that of a machine that only signs has none. */
export function hasDatabase({ files }: Manifest): boolean {
  return files.some(({ path }) => path === DUMP);
}

function readManifest(folder: string): Manifest {
  const path = join(folder, MANIFEST);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (cause) {
    throw new OperatingError("CONFIG_MISSING", `${path}: expected the list of a backup's files.`, {
      cause,
    });
  }
  if (Value.Check(Manifest, value)) return value;
  const [error] = Value.Errors(Manifest, value);
  throw damaged(
    path,
    `${error?.instancePath.slice(1) || "the list"} ${error?.message ?? "is not valid"}`,
  );
}

function damaged(path: string, found: string): OperatingError {
  return new OperatingError("CONFIG_MISSING", `${path}: the backup is damaged: ${found}.`);
}
