/**
 * The embedded PostgreSQL: real server binaries from npm, data in the state folder, a unix socket and nothing else.
 *
 * The server is a detached process: it outlives a killed service, and the next start adopts it. The binaries are copied
 * beside the data, so they always fit it and `nobody` can read them: PostgreSQL refuses to run as root. Trust
 * authentication rests on the folder's mode, 0700. The server's environment is empty: ours holds secrets.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import type { Log } from "../telemetry/log.ts";
import { copyBinaries } from "./embedded-binaries.ts";
import { unusable } from "./embedded-error.ts";
import { findHome, findOwner, makePrivateDir, type Owner, socketDirOf } from "./embedded-home.ts";
import { type DatabaseAddress, toClientConfig } from "./pool.ts";

const USER = "sluice";
const START_TIMEOUT_MS = 60_000;
/** How long a stop waits for the last connections of others to close. */
const STOP_PATIENCE_MS = 1_000;
const POLL_MS = 20;
const ENVIRONMENT = { LC_ALL: "C" };

export interface EmbeddedServer {
  readonly address: DatabaseAddress & { readonly socketDir: string };
  /** True when a running server was found, of an earlier process that did not stop it. */
  readonly adopted: boolean;
  /**
   * Ends the server and waits until it is gone. Leaves it to those who still use it, unless `force` cuts them: a command
   * that started the server must not take it from a service that found it running.
   */
  stop(options?: { readonly force?: boolean }): Promise<void>;
}

/**
 * Starts the embedded server of a state folder, or adopts the one that runs there.
 * @throws OperatingError CONFIG_MISSING that names what is missing; DATABASE_URL is always the way out.
 */
export async function startEmbedded(options: {
  readonly stateDir: string;
  readonly log?: Log;
  /** Tests only: trades durability for speed. */
  readonly unsafeFast?: boolean;
}): Promise<EmbeddedServer> {
  const home = findHome(path.resolve(options.stateDir), options.log);
  const owner = findOwner(home);
  const dataDir = path.join(home, "data");
  const socketDir = socketDirOf(home);
  for (const dir of new Set([home, socketDir])) makePrivateDir(dir, owner);
  const native = copyBinaries(home, dataDir);
  const bin = (name: string) => path.join(native, "bin", name);
  await initialise({ command: bin("initdb"), dataDir, home, owner });

  const address = { socketDir, user: USER, database: "postgres" };
  const settings = {
    listen_addresses: "",
    unix_socket_directories: socketDir,
    unix_socket_permissions: "0700",
    max_connections: 100,
    autovacuum_naptime: "5s",
    ...(options.unsafeFast
      ? { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }
      : {}),
  };
  const child = await launch({ command: bin("postgres"), dataDir, home, settings, owner, address });
  // Of two that start at once one wins, and the other adopts.
  const adopted = child?.pid === undefined || child.pid !== readPid(dataDir);
  return {
    address,
    adopted,
    async stop({ force = false } = {}) {
      await stopServer({ dataDir, address, force });
      if (socketDir !== home) removeIfEmpty(socketDir);
    },
  };
}

/** Creates the data folder, complete or not at all. Of two that do it at once one wins. */
async function initialise(args: {
  readonly command: string;
  readonly dataDir: string;
  readonly home: string;
  readonly owner: Owner;
}): Promise<void> {
  const { command, dataDir, home, owner } = args;
  if (fs.existsSync(path.join(dataDir, "PG_VERSION"))) return;
  const partial = fs.mkdtempSync(`${dataDir}.partial-`);
  makePrivateDir(partial, owner);
  const flags = ["-D", partial, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C"];
  try {
    await promisify(execFile)(command, [...flags, "--no-instructions"], {
      ...owner,
      cwd: home,
      env: ENVIRONMENT,
    });
  } catch (cause) {
    fs.rmSync(partial, { recursive: true, force: true });
    throw unusable(`initdb failed (${reasonOf(cause)})`, cause);
  }
  try {
    fs.renameSync(partial, dataDir);
  } catch (cause) {
    fs.rmSync(partial, { recursive: true, force: true });
    if (!fs.existsSync(path.join(dataDir, "PG_VERSION"))) {
      throw unusable(`${dataDir} is in the way and is not a data folder`, cause);
    }
  }
}

/** Waits for a server, starting one unless it answers already. Returns the last one started, or null. */
async function launch(args: {
  readonly command: string;
  readonly dataDir: string;
  readonly home: string;
  readonly settings: Readonly<Record<string, string | number>>;
  readonly owner: Owner;
  readonly address: DatabaseAddress;
}): Promise<ChildProcess | null> {
  const { command, dataDir, home, settings, owner, address } = args;
  const log = path.join(home, "postgres.log");
  const deadline = Date.now() + START_TIMEOUT_MS;
  let child: ChildProcess | null = null;
  let failure: unknown;
  while (!(await answers(address))) {
    if (failure !== undefined) throw unusable(`it did not start (${reasonOf(failure)})`, failure);
    if (Date.now() > deadline) throw unusable(`it did not start, see ${log}`);
    // A server that was just killed may hold its lock file for a moment: try again.
    if (!child || child.exitCode !== null || child.signalCode !== null) {
      const out = fs.openSync(log, "a", 0o600);
      const flags = Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
      child = spawn(command, ["-D", dataDir, ...flags], {
        ...owner,
        cwd: home,
        env: ENVIRONMENT,
        stdio: ["ignore", out, out],
        detached: true,
      });
      child.on("error", (error) => (failure = error));
      child.unref();
      fs.closeSync(out);
    }
    await delay(POLL_MS);
  }
  return child;
}

async function answers(address: DatabaseAddress): Promise<boolean> {
  return (await query(address, "select 1")) !== null;
}

/** Rows of one statement over a connection of its own, or null while the server does not answer. */
async function query(address: DatabaseAddress, text: string): Promise<unknown[] | null> {
  const client = new pg.Client({ ...toClientConfig(address), connectionTimeoutMillis: 5_000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query(text);
    await client.end();
    return rows;
  } catch {
    // Not there, or still starting or stopping: the caller asks again until its deadline.
    return null;
  }
}

async function stopServer(args: {
  readonly dataDir: string;
  readonly address: DatabaseAddress;
  readonly force: boolean;
}): Promise<void> {
  const { dataDir, address, force } = args;
  const patience = Date.now() + STOP_PATIENCE_MS;
  for (;;) {
    const others = await query(
      address,
      "select from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
    );
    // No answer means no server: its lock file may be left from a crash and name the process of somebody else.
    if (others === null) return;
    if (force || others.length === 0) break;
    if (Date.now() > patience) return;
    await delay(POLL_MS);
  }
  const pid = readPid(dataDir);
  if (pid === null) return;
  // Fast shutdown: open transactions are rolled back, everything committed is kept.
  process.kill(pid, "SIGINT");
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (readPid(dataDir) === pid) {
    if (Date.now() > deadline) throw unusable("it did not stop");
    await delay(POLL_MS);
  }
}

/** Removes a folder, unless it is in use or gone. */
function removeIfEmpty(dir: string): void {
  const inUse = fs.existsSync(dir) && fs.readdirSync(dir).length > 0;
  if (!inUse) fs.rmSync(dir, { recursive: true, force: true });
}

/** The process id in the server's lock file, or null where there is none. */
function readPid(dataDir: string): number | null {
  try {
    return Number.parseInt(fs.readFileSync(path.join(dataDir, "postmaster.pid"), "utf8"), 10);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** One line about a program that failed: what it printed last, or why it could not be run. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The file is there, so what is missing is its loader: these binaries need glibc.
  if ("code" in error && error.code === "ENOENT") return "this system has no glibc";
  const printed = "stderr" in error && typeof error.stderr === "string" ? error.stderr : "";
  const line = printed.split("\n").find((text) => text.includes("error:")) ?? error.message;
  return line.trim().split("\n")[0] ?? "";
}
