import { readFileSync, realpathSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { stopLeftNode } from "./anvil.ts";
import { CHAIN_SPECS } from "./chain-specs.ts";
import { isErrno } from "./json-file.ts";
import { acquireLock } from "./lock.ts";
import { identifyProcess, readArguments, stopProcess } from "./processes.ts";
import { stopLeftSolanaNode } from "./solana/node.ts";
import { stopLeftService } from "./service.ts";
import { statePaths } from "./state-paths.ts";

const DATABASE_GRACE_MS = 20_000;

/** Removes a sandbox that is not running: what it left running is stopped, what it made is deleted, nothing else. */
export async function removeSandbox(stateDir: string): Promise<void> {
  const lock = acquireLock(statePaths(stateDir).lock, stateDir);
  try {
    await clearState(stateDir);
  } finally {
    lock.release();
  }
}

/** Like `removeSandbox`, for who holds the lock. */
export async function clearState(stateDir: string): Promise<void> {
  const paths = statePaths(stateDir);
  await stopLeftService(stateDir);
  await stopLeftDatabase(paths.database);
  await Promise.all([
    ...CHAIN_SPECS.map((spec) => stopLeftNode({ spec, dir: paths.nodes })),
    stopLeftSolanaNode(paths.nodes),
  ]);
  removeLinkedHome(join(paths.database, "postgres"));
  for (const path of paths.contents) rmSync(path, { recursive: true, force: true });
}

/** Ends the embedded database of a service that was killed. */
export async function stopLeftDatabase(dir: string): Promise<void> {
  const home = realPath(join(dir, "postgres"));
  if (home === undefined) return;
  const pid = readPid(join(home, "data", "postmaster.pid"));
  if (pid === undefined) return;
  const isOurs = readArguments(pid)?.some((argument) => realPath(argument) === join(home, "data"));
  if (isOurs) await stopProcess(identifyProcess(pid), DATABASE_GRACE_MS, "SIGINT");
}

/** Where root's `nobody` could not reach the state directory, the database lives elsewhere and a link leads there. */
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
