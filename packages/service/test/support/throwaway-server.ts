/**
 * A PostgreSQL for tests: fast, because nothing it holds has to last. The embedded server outlives whoever starts it, as
 * a service wants it to; this one ends with the process that started it, however that ends, and its folder with it.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdtempSync, readFileSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedServer, startEmbedded } from "../../src/db/embedded.ts";

export interface ThrowawayServer {
  readonly address: EmbeddedServer["address"];
  /** Ends the server, whoever uses it, and deletes its folder. */
  stop(): Promise<void>;
}

const MEMORY = "/dev/shm";
const ROOM_MIN_BYTES = 4 * 2 ** 30;

/**
 * Where its folder goes: into memory, where there is room and TMPDIR names no other place. To empty tables makes and
 * removes hundreds of files, for which a disk takes ten times as long.
 */
function findPlace(): string {
  if (process.env.TMPDIR !== undefined || !existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  const mounts = readFileSync("/proc/mounts", "utf8").split("\n");
  const [, , , flags = "noexec"] =
    mounts.findLast((line) => line.split(" ")[1] === MEMORY)?.split(" ") ?? [];
  // The server's program is copied there too.
  const runs = !flags.split(",").includes("noexec");
  return runs && bavail * bsize >= ROOM_MIN_BYTES ? MEMORY : tmpdir();
}

/** Starts one in a temporary folder of that name and a random ending. */
export async function startThrowawayServer(name: string): Promise<ThrowawayServer> {
  const stateDir = mkdtempSync(join(findPlace(), `${name}-`));
  // Under root the server runs as somebody else, who has to get in.
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
 * Waits for the end of its input, which the system brings about when this process ends, even by SIGKILL. A server that
 * is only just starting has no lock file yet, and ends by itself when it finds its folder gone.
 */
const AFTERWARDS = `
  cat > /dev/null
  lock="$1/postgres/data/postmaster.pid"
  if pid=$(head -n 1 "$lock" 2> /dev/null); then
    kill -INT "$pid" && while [ -e "$lock" ]; do sleep 0.02; done
  fi
  rm -rf "$1"`;

/** Has the server of a state folder ended by a process that outlives this one; returns how to have it done at once. */
function endWithThisProcess(stateDir: string): () => Promise<void> {
  const survivor = spawn("/bin/sh", ["-c", AFTERWARDS, "sh", stateDir], {
    stdio: ["pipe", "ignore", "inherit"],
    cwd: "/",
    // A group of its own: what ends ours, such as Ctrl-C, leaves it.
    detached: true,
  });
  survivor.unref();
  const gone = once(survivor, "exit");
  // Who waits for it below is told; who does not is ending.
  gone.catch(() => undefined);
  return async () => {
    survivor.ref();
    survivor.stdin.end();
    const [code] = await gone;
    if (code !== 0) throw new Error(`${stateDir} could not be cleared away`);
  };
}
