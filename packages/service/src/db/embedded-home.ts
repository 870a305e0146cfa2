/** Where the embedded server lives, and as whom. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Log } from "../telemetry/log.ts";
import { unusable } from "./embedded-error.ts";

/** Who the server runs as; empty for ourselves. */
export interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

const NOBODY = { uid: 65534, gid: 65534 };
const SYSTEM_DIR = "/var/lib/sluice";
/** Bytes of a socket's path that every system takes, and its name. */
const SOCKET_PATH_MAX = 103;
const SOCKET_NAME = ".s.PGSQL.5432";

/**
 * The folder of the server: `postgres` in the state folder. Where `nobody` could not reach that, a link there leads to
 * a system folder, so that whoever deletes the state folder finds the rest.
 */
export function findHome(stateDir: string, log?: Log): string {
  const home = path.join(stateDir, "postgres");
  if (isLinkOrFolder(home)) return resolveHome(home);
  fs.mkdirSync(stateDir, { recursive: true });
  if (!isRoot() || isReachable(stateDir, NOBODY.uid)) return home;
  fs.mkdirSync(SYSTEM_DIR, { recursive: true, mode: 0o755 });
  const elsewhere = fs.mkdtempSync(path.join(SYSTEM_DIR, "postgres-"));
  fs.symlinkSync(elsewhere, home);
  log?.warn(
    { stateDir, home: elsewhere },
    "PostgreSQL runs as nobody, who cannot reach the state folder: its data are elsewhere",
  );
  return elsewhere;
}

function resolveHome(link: string): string {
  let home: string;
  try {
    home = fs.realpathSync(link);
  } catch (cause) {
    throw unusable(`${link} leads to ${fs.readlinkSync(link)}, which does not exist`, cause);
  }
  const owner = findOwner(home);
  if (owner.uid !== undefined && !isReachable(path.dirname(home), owner.uid)) {
    throw unusable(`a folder above ${home} is closed to user ${owner.uid}, who owns the data`);
  }
  return home;
}

/** Who the server must run as: whoever owns the data, and never root. */
export function findOwner(home: string): Owner {
  if (!isRoot()) return {};
  const data = path.join(home, "data");
  if (!fs.existsSync(data)) return NOBODY;
  const { uid, gid } = fs.statSync(data);
  return uid === 0 ? NOBODY : { uid, gid };
}

/** Makes a folder that only its owner can enter. One that somebody else put in the way is refused. */
export function makePrivateDir(dir: string, owner: Owner): void {
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  const found = fs.lstatSync(dir);
  const us = process.getuid?.() ?? found.uid;
  if (!found.isDirectory() || (found.uid !== us && found.uid !== owner.uid)) {
    throw unusable(`${dir} belongs to somebody else`);
  }
  if (owner.uid !== undefined && owner.gid !== undefined) fs.chownSync(dir, owner.uid, owner.gid);
  fs.chmodSync(dir, 0o700);
}

/** Where the socket is: beside the data, or in the temporary folder where that path is too long for a socket. */
export function socketDirOf(home: string): string {
  if (Buffer.byteLength(path.join(home, SOCKET_NAME)) <= SOCKET_PATH_MAX) return home;
  const hash = createHash("sha256").update(home).digest("hex").slice(0, 16);
  return path.join(os.tmpdir(), `sluice-${hash}`);
}

function isLinkOrFolder(at: string): boolean {
  return fs.lstatSync(at, { throwIfNoEntry: false }) !== undefined;
}

/** Whether a user can enter a folder and all above it, by the mode bits. */
function isReachable(dir: string, uid: number): boolean {
  for (let at = dir; ; at = path.dirname(at)) {
    const found = fs.statSync(at);
    const bit = found.uid === uid ? 0o100 : 0o001;
    if ((found.mode & bit) === 0) return false;
    if (at === path.dirname(at)) return true;
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
