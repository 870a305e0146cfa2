/**
 * One instance per state directory. The lock is a file that names its holder; one whose holder is dead is taken over.
 * The file appears with its content (written aside, then linked), so a reader never sees it half.
 */
import { linkSync, renameSync, rmSync } from "node:fs";
import { SandboxError } from "./errors.ts";
import { isErrno } from "./json-file.ts";
import { isRunning, readProcessFile, writeProcessFile } from "./processes.ts";

/** A held lock. */
export interface Lock {
  release(): void;
}

/** Takes the lock of a state directory or throws a `SandboxError` that names the holder. */
export function acquireLock(path: string, stateDir: string): Lock {
  const mine = `${path}.${process.pid}`;
  writeProcessFile(mine, process.pid);
  try {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      if (link(mine, path)) return { release: () => rmSync(path, { force: true }) };
      refuseLiveHolder(path, stateDir);
      takeAwayStale(path, stateDir);
    }
    throw new SandboxError(`${stateDir} is being locked by another sandbox: try again`);
  } finally {
    rmSync(mine, { force: true });
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

function refuseLiveHolder(path: string, stateDir: string): void {
  const holder = readProcessFile(path);
  if (holder && isRunning(holder.identity)) {
    throw new SandboxError(
      `a sandbox already runs on ${stateDir} (process ${holder.identity.pid}): stop it, or choose another folder with --state-dir`,
    );
  }
}

/** Moves the lock aside and looks again: between reading and moving, somebody may have taken it over. */
function takeAwayStale(path: string, stateDir: string): void {
  const aside = `${path}.${process.pid}.stale`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (isErrno(error, "ENOENT")) return;
    throw error;
  }
  try {
    refuseLiveHolder(aside, stateDir);
  } catch (error) {
    link(aside, path);
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}
