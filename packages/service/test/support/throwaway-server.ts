/**
 * A PostgreSQL for tests: fast, because nothing it holds has to last. The embedded server outlives whoever starts it, as
 * a service wants it to; this one ends with the process that started it, however that ends, and its folder with it.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedServer, startEmbedded } from "../../src/db/embedded.ts";

export interface ThrowawayServer {
  readonly address: EmbeddedServer["address"];
  /** Ends the server, whoever uses it, and deletes its folder. */
  stop(): Promise<void>;
}

/** Starts one in a temporary folder of that name and a random ending. */
export async function startThrowawayServer(name: string): Promise<ThrowawayServer> {
  const stateDir = mkdtempSync(join(tmpdir(), `${name}-`));
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
