/** Finds the folder and the user of the embedded server. */
import { createHash } from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Log } from "../telemetry/log.ts";
import { unusable } from "./embedded-error.ts";

/** User of the server process; empty for the current user. */
export interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

const NOBODY = { uid: 65534, gid: 65534 };
const SYSTEM_DIR = "/var/lib/sluice";
/** Longest socket path, in bytes, that every system accepts. */
const SOCKET_PATH_MAX = 103;
const SOCKET_NAME = ".s.PGSQL.5432";

/**
 * Returns the folder of the server: `postgres` in the state folder. Where `nobody` cannot reach the state folder, this
 * is a link to a system folder, so that the data can be found from the state folder.
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
    "state folder not reachable by user nobody, PostgreSQL data in another folder",
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

/** Returns the user that the server must run as: the owner of the data, never root. */
export function findOwner(home: string): Owner {
  if (!isRoot()) return {};
  const data = path.join(home, "data");
  if (!fs.existsSync(data)) return NOBODY;
  const { uid, gid } = fs.statSync(data);
  return uid === 0 ? NOBODY : { uid, gid };
}

/** Creates a folder with mode 0700. Refuses an existing folder of another user. */
export function makePrivateDir(dir: string, owner: Owner): void {
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  const found = fs.lstatSync(dir);
  const us = process.getuid?.() ?? found.uid;
  if (!found.isDirectory() || (found.uid !== us && found.uid !== owner.uid)) {
    throw unusable(`${dir} belongs to another user (${found.uid})`);
  }
  if (owner.uid !== undefined && owner.gid !== undefined) fs.chownSync(dir, owner.uid, owner.gid);
  fs.chmodSync(dir, 0o700);
}

/** Returns the socket's folder: beside the data, or in the temporary folder when that path is too long. */
export function socketDirOf(home: string): string {
  if (Buffer.byteLength(path.join(home, SOCKET_NAME)) <= SOCKET_PATH_MAX) return home;
  const hash = createHash("sha256").update(home).digest("hex").slice(0, 16);
  return path.join(os.tmpdir(), `sluice-${hash}`);
}

function isLinkOrFolder(at: string): boolean {
  return fs.lstatSync(at, { throwIfNoEntry: false }) !== undefined;
}

/** Returns whether a user can enter a folder and all its parents, by the mode bits. */
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
