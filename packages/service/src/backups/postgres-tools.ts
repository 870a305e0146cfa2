/**
 * Dumps and restores a database with PostgreSQL's own programs, which know every detail of its formats. A password is handed over
 * in a file: other users can see the arguments of a process.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { OperatingError } from "../core/errors.ts";
import type { DatabaseAddress } from "../db/pool.ts";

/** Longest output of a program that is read. */
const OUTPUT_MAX_BYTES = 64 * 2 ** 20;

/** Writes a consistent snapshot of the database into a new file, in the program's custom format. */
export async function dumpDatabase(address: DatabaseAddress, file: string): Promise<void> {
  await withConnection(address, (connection) =>
    run("pg_dump", ["--format=custom", `--file=${file}`, connection]),
  );
}

/** Restores a snapshot into a database without tables, all of it or nothing. Owners and rights are those of this database. */
export async function restoreDatabase(address: DatabaseAddress, file: string): Promise<void> {
  await withConnection(address, (connection) =>
    run("pg_restore", [
      "--single-transaction",
      "--exit-on-error",
      "--no-owner",
      "--no-privileges",
      `--dbname=${connection}`,
      file,
    ]),
  );
}

/** Reads the contents of a snapshot. @throws OperatingError if it is damaged */
export async function listDump(file: string): Promise<string> {
  return run("pg_restore", ["--list", file]);
}

/** Passes the connection of a database without its password, which is in a file meanwhile. */
async function withConnection<Result>(
  address: DatabaseAddress,
  work: (connection: string) => Promise<Result>,
): Promise<Result> {
  if (!("url" in address)) {
    const { socketDir, user, database } = address;
    return work(`postgresql:///${database}?${new URLSearchParams({ host: socketDir, user })}`);
  }
  const url = new URL(address.url.reveal());
  const password = decodeURIComponent(url.password) || url.searchParams.get("password");
  url.password = "";
  url.searchParams.delete("password");
  if (!password) return work(url.href);
  const folder = mkdtempSync(join(tmpdir(), "sluice-backup-"));
  const passfile = join(folder, "password");
  writeFileSync(passfile, `*:*:*:*:${password.replaceAll(/[\\:]/g, "\\$&")}\n`, { mode: 0o600 });
  url.searchParams.set("passfile", passfile);
  try {
    return await work(url.href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(program: string, args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, [...args], {
      maxBuffer: OUTPUT_MAX_BYTES,
    });
    return stdout;
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") {
      throw new OperatingError(
        "CONFIG_MISSING",
        `${program} was not found: install PostgreSQL's programs, of the version of the server or newer.`,
      );
    }
    const said = cause instanceof Error && "stderr" in cause ? String(cause.stderr).trim() : "";
    throw new OperatingError(
      "CONFIG_MISSING",
      // The first line says what, the second often why, as with the versions of server and program.
      `${program} failed: ${said.split("\n").slice(0, 2).join("; ") || String(cause)}`,
      { cause },
    );
  }
}
