/** A PostgreSQL server of Debian's, with its programs, as an operator has one; as `nobody` where the tests run as root. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { findFreePort } from "@sluice/sandbox";

const VERSIONS = "/usr/lib/postgresql";
const NOBODY = { uid: 65534, gid: 65534 };
/** With characters that URLs and password files write otherwise. */
const PASSWORD = "s:c\\r/t p@ss";

export interface DebianPostgres {
  /** Creates an empty database, and returns its URL. */
  create(name: string): Promise<string>;
  /** Drops a database with every connection to it. */
  drop(name: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server with a data folder of its own. */
export async function startDebianPostgres(): Promise<DebianPostgres> {
  const [version] = existsSync(VERSIONS) ? readdirSync(VERSIONS).toSorted().toReversed() : [];
  if (!version)
    throw new Error(`expected PostgreSQL of Debian in ${VERSIONS} (.ci/run installs it)`);
  const bin = (name: string) => join(VERSIONS, version, "bin", name);
  const owner: Partial<typeof NOBODY> = process.getuid?.() === 0 ? NOBODY : {};
  const folder = mkdtempSync(join(tmpdir(), "sluice-postgres-"));
  const data = join(folder, "data");
  const passwordFile = join(folder, "password");
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(passwordFile, PASSWORD);
  const { uid, gid } = owner;
  if (uid !== undefined && gid !== undefined) {
    for (const path of [folder, data, passwordFile]) chownSync(path, uid, gid);
  }
  const flags = ["-D", data, "-U", "sluice", "-A", "scram-sha-256", `--pwfile=${passwordFile}`];
  const settings = { ...owner, cwd: folder, env: { LC_ALL: "C" } };
  execFileSync(bin("initdb"), [...flags, "--no-sync", "-E", "UTF8", "--locale=C"], {
    ...settings,
    stdio: "ignore",
  });
  const port = await findFreePort();
  const listening = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: folder,
    port,
    fsync: "off",
  };
  const given = Object.entries(listening).flatMap(([key, value]) => ["-c", `${key}=${value}`]);
  const child = spawn(bin("postgres"), ["-D", data, ...given], { ...settings, stdio: "ignore" });
  const ended = once(child, "exit");
  const urlOf = (name: string) => {
    const url = new URL(`postgresql://sluice@127.0.0.1:${port}/${name}`);
    url.password = encodeURIComponent(PASSWORD);
    return url.href;
  };
  const run = async (statement: string) => {
    const client = new pg.Client({ connectionString: urlOf("postgres") });
    client.on("error", () => undefined);
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  for (let tries = 0; ; tries += 1) {
    const failure = await run("select 1").then(
      () => null,
      (error: unknown) => error,
    );
    if (!failure) break;
    if (tries === 100 || child.exitCode !== null) throw failure;
    await delay(100);
  }
  return {
    async create(name) {
      await run(`create database ${name}`);
      return urlOf(name);
    },
    drop: (name) => run(`drop database ${name} with (force)`),
    async stop() {
      child.kill("SIGINT");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
