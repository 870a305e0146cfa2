/**
 * The embedded PostgreSQL: server binaries from npm, data in the state folder, connections through a Unix socket only.
 *
 * The server is a detached process: it survives a killed service, and the next start adopts it. The binaries are copied
 * beside the data, so that they match its version and `nobody` can read them: PostgreSQL refuses to run as root. Trust
 * authentication relies on the folder's mode, 0700. The server's environment is empty, since ours contains secrets.
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
import { APPLICATION_NAME, type DatabaseAddress, toClientConfig } from "./pool.ts";

const USER = "sluice";
const START_TIMEOUT_MS = 60_000;
/** Time that a stop waits for the connections of other processes to close. */
const STOP_PATIENCE_MS = 1_000;
const POLL_MS = 20;
const ENVIRONMENT = { LC_ALL: "C" };
/** Databases of tests live for seconds: to look into each of them every 5 seconds costs more than it cleans up. */
const UNSAFE_FAST = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  autovacuum_naptime: "60s",
};

export interface EmbeddedServer {
  readonly address: DatabaseAddress & { readonly socketDir: string };
  /** True when a server of an earlier process was running already. */
  readonly adopted: boolean;
  /**
   * Stops the server and waits for its end. Leaves it running while other processes are connected, unless `force` is
   * set: a command that started the server must not stop it under a service that adopted it. It waits a second for them to
   * close, unless `leave` is set.
   */
  stop(options?: { readonly force?: boolean; readonly leave?: boolean }): Promise<void>;
}

/**
 * Starts the embedded server of a state folder, or adopts the running one.
 * @throws OperatingError CONFIG_MISSING with the reason and the alternative, DATABASE_URL.
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
    ...(options.unsafeFast && UNSAFE_FAST),
  };
  const child = await launch({ command: bin("postgres"), dataDir, home, settings, owner, address });
  // When two processes start at the same time, one wins and the other adopts its server.
  const adopted = child?.pid === undefined || child.pid !== readPid(dataDir);
  return {
    address,
    adopted,
    async stop({ force = false, leave = false } = {}) {
      await stopServer({ dataDir, address, force, leave });
      if (socketDir !== home) removeIfEmpty(socketDir);
    },
  };
}

/** Creates the data folder atomically. When two processes do it at the same time, one wins. */
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
      throw unusable(`${dataDir} exists and is not a PostgreSQL data folder`, cause);
    }
  }
}

/** Waits until a server answers, and starts one if needed. Returns the last started process, or null. */
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
    // A killed server may hold its lock file for a moment: a start that failed is repeated.
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

/** Returns the rows of one statement over a new connection; null while the server does not answer. */
async function query<Row extends object>(
  address: DatabaseAddress,
  text: string,
): Promise<Row[] | null> {
  const client = new pg.Client({ ...toClientConfig(address), connectionTimeoutMillis: 5_000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<Row>(text);
    await client.end();
    return rows;
  } catch {
    // Not running, starting or stopping: the caller retries until its deadline.
    return null;
  }
}

async function stopServer(args: {
  readonly dataDir: string;
  readonly address: DatabaseAddress;
  readonly force: boolean;
  readonly leave: boolean;
}): Promise<void> {
  const { dataDir, address, force, leave } = args;
  const patience = Date.now() + STOP_PATIENCE_MS;
  for (;;) {
    const others = await query<{ name: string }>(
      address,
      "select application_name as name from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
    );
    // No answer means no server. Its lock file may be left from a crash and name an unrelated process.
    if (others === null) return;
    if (force || others.length === 0) break;
    if (leave && others.some(({ name }) => name !== APPLICATION_NAME)) return;
    if (Date.now() > patience) return;
    await delay(POLL_MS);
  }
  const pid = readPid(dataDir);
  if (pid === null) return;
  // Fast shutdown: open transactions are rolled back, committed ones are kept.
  process.kill(pid, "SIGINT");
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (readPid(dataDir) === pid) {
    if (Date.now() > deadline) throw unusable("it did not stop");
    await delay(POLL_MS);
  }
}

/** Removes a folder if it exists and is empty. */
function removeIfEmpty(dir: string): void {
  const inUse = fs.existsSync(dir) && fs.readdirSync(dir).length > 0;
  if (!inUse) fs.rmSync(dir, { recursive: true, force: true });
}

/** Returns the process id in the server's lock file; null without a lock file. */
function readPid(dataDir: string): number | null {
  try {
    return Number.parseInt(fs.readFileSync(path.join(dataDir, "postmaster.pid"), "utf8"), 10);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}

/** Returns one line about a failed program: its error output, or why it could not be run. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The binary exists, so its loader is missing: these binaries need glibc.
  if ("code" in error && error.code === "ENOENT") return "this system has no glibc";
  const printed = "stderr" in error && typeof error.stderr === "string" ? error.stderr : "";
  const line = printed.split("\n").find((text) => text.includes("error:")) ?? error.message;
  return line.trim().split("\n")[0] ?? "";
}
