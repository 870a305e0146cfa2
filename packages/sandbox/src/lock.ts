/**
 * Allows one sandbox per state directory. The lock is a file that names its holder; a stale lock, whose holder is dead,
 * is taken over. The file is written under another name and then linked, so a reader never sees it incomplete.
 */
import { linkSync, renameSync, rmSync } from "node:fs";
import { SandboxError } from "./errors.ts";
import { isErrno } from "./json-file.ts";
import { isRunning, readProcessFile, writeProcessFile } from "./processes.ts";

/** A held lock. */
export interface Lock {
  release(): void;
}

/** Locks a state directory, or throws a `SandboxError` that names the holder. */
export function acquireLock(path: string, stateDir: string): Lock {
  const temporary = `${path}.${process.pid}`;
  writeProcessFile(temporary, process.pid);
  try {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      if (link(temporary, path)) return { release: () => rmSync(path, { force: true }) };
      assertNoLiveHolder(path, stateDir);
      removeStaleLock(path, stateDir);
    }
    throw new SandboxError(`another sandbox is starting on ${stateDir}: try again`);
  } finally {
    rmSync(temporary, { force: true });
  }
}

function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (isErrno(error, "EEXIST")) return false;
    throw error;
  }
}

function assertNoLiveHolder(path: string, stateDir: string): void {
  const holder = readProcessFile(path);
  if (holder && isRunning(holder.identity)) {
    throw new SandboxError(
      `a sandbox is already running on ${stateDir} (process ${holder.identity.pid}): stop it, or choose another directory with --state-dir`,
    );
  }
}

/** Removes a stale lock. It is renamed and checked again, because another process may have taken it over meanwhile. */
function removeStaleLock(path: string, stateDir: string): void {
  const stale = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, stale);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return;
    throw error;
  }
  try {
    assertNoLiveHolder(stale, stateDir);
  } catch (error) {
    link(stale, path);
    throw error;
  } finally {
    rmSync(stale, { force: true });
  }
}
