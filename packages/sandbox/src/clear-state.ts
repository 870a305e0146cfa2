import { readFileSync, realpathSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { stopLeftoverNode } from "./anvil.ts";
import { CHAIN_SPECS } from "./chain-specs.ts";
import { isErrno } from "./json-file.ts";
import { acquireLock } from "./lock.ts";
import { identifyProcess, readArguments, stopProcess } from "./processes.ts";
import { stopLeftoverSolanaNode } from "./solana/node.ts";
import { stopLeftoverService } from "./service.ts";
import { statePaths } from "./state-paths.ts";

const DATABASE_GRACE_MS = 20_000;

/** Removes a sandbox that is not running: stops its leftover processes and deletes the files it created, no others. */
export async function removeSandbox(stateDir: string): Promise<void> {
  const lock = acquireLock(statePaths(stateDir).lock, stateDir);
  try {
    await clearState(stateDir);
  } finally {
    lock.release();
  }
}

/** Like `removeSandbox`, for a caller that holds the lock. */
export async function clearState(stateDir: string): Promise<void> {
  const paths = statePaths(stateDir);
  await stopLeftoverService(stateDir);
  await stopLeftoverDatabase(paths.database);
  await Promise.all([
    ...CHAIN_SPECS.map((spec) => stopLeftoverNode({ spec, dir: paths.nodes })),
    stopLeftoverSolanaNode(paths.nodes),
  ]);
  removeLinkedHome(join(paths.database, "postgres"));
  for (const path of paths.contents) rmSync(path, { recursive: true, force: true });
}

/** Stops the embedded database of a killed service. */
export async function stopLeftoverDatabase(dir: string): Promise<void> {
  const home = realPath(join(dir, "postgres"));
  if (home === undefined) return;
  const pid = readPid(join(home, "data", "postmaster.pid"));
  if (pid === undefined) return;
  const isOurs = readArguments(pid)?.some((argument) => realPath(argument) === join(home, "data"));
  if (isOurs) await stopProcess(identifyProcess(pid), DATABASE_GRACE_MS, "SIGINT");
}

/** Removes the database where it is a link: `nobody` could not access the state directory, so it was created elsewhere. */
function removeLinkedHome(link: string): void {
  const home = realPath(link);
  if (home === undefined || home === link || !basename(home).startsWith("postgres-")) return;
  rmSync(home, { recursive: true, force: true });
}

function readPid(path: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(path, "utf8"), 10);
    return Number.isSafeInteger(pid) ? pid : undefined;
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if (isErrno(error, "ENOENT") || isErrno(error, "ENOTDIR")) return undefined;
    throw error;
  }
}
