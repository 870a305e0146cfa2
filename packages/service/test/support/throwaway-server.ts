/**
 * A PostgreSQL for tests: fast, because it is not durable. The embedded server outlives the process that starts it; this one
 * and its folder are removed when that process ends in any way.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedServer, startEmbedded } from "../../src/db/embedded.ts";

export interface ThrowawayServer {
  readonly address: EmbeddedServer["address"];
  /** Stops the server despite open connections, and deletes its folder. */
  stop(): Promise<void>;
}

const MEMORY = "/dev/shm";
const ROOM_MIN_BYTES = 4 * 2 ** 30;

/**
 * Returns the parent of its folder: in memory, if there is room and TMPDIR is not set. Truncating tables creates and removes
 * hundreds of files, which takes ten times as long on a disk.
 */
function findPlace(): string {
  if (process.env.TMPDIR !== undefined || !existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
  const [, , , flags = "noexec"] =
    mounts.findLast((line) => line.split(" ")[1] === MEMORY)?.split(" ") ?? [];
  // The server's binaries are copied there too.
  const runs = !flags.split(",").includes("noexec");
  return runs && bavail * bsize >= ROOM_MIN_BYTES ? MEMORY : tmpdir();
}

/** Starts a server in a temporary folder with the given prefix and a random suffix. */
export async function startThrowawayServer(name: string): Promise<ThrowawayServer> {
  const stateDir = mkdtempSync(join(findPlace(), `${name}-`));
  // Under root the server runs as another user, who needs access.
  chmodSync(stateDir, 0o755);
  const end = endWithThisProcess(stateDir);
  try {
    const { address } = await startEmbedded({ stateDir, unsafeFast: true });
    return { address, stop: end };
  } catch (error) {
    await end();
    throw error;
  }
}

/**
 * Waits for the end of its input, which the system closes when this process ends, even by SIGKILL. A server that is still
 * starting has no lock file yet, and exits by itself when its folder is gone.
 */
const AFTERWARDS = `
  cat > /dev/null
  lock="$1/postgres/data/postmaster.pid"
  if pid=$(head -n 1 "$lock" 2> /dev/null); then
    kill -INT "$pid" && while [ -e "$lock" ]; do sleep 0.02; done
  fi
  rm -rf "$1"`;

/** Starts a process that outlives this one and stops the server of a state folder; returns a function that stops it now. */
function endWithThisProcess(stateDir: string): () => Promise<void> {
  const survivor = spawn("/bin/sh", ["-c", AFTERWARDS, "sh", stateDir], {
    stdio: ["pipe", "ignore", "inherit"],
    cwd: "/",
    // A process group of its own, which Ctrl-C does not reach.
    detached: true,
  });
  survivor.unref();
  const gone = once(survivor, "exit");
  // The caller below gets the result; without one, this process is ending.
  gone.catch(() => undefined);
  return async () => {
    survivor.ref();
    survivor.stdin.end();
    const [code] = await gone;
    if (code !== 0) throw new Error(`${stateDir} could not be cleared away`);
  };
}
