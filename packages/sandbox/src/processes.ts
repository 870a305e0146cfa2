/**
 * Identifies processes by id and start time. After a reboot an id can belong to another process, so process files store
 * the start time too, and no signal is sent to an id alone.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { asRecord, isErrno, readJson, writeJson } from "./json-file.ts";

/** Identity of a process, as stored in a file. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Boot id and start time; absent if the system has no /proc. */
  readonly startedAt?: string;
}

/** Returns the identity of a running process. */
export function identifyProcess(pid: number): ProcessIdentity {
  const startedAt = readStart(pid);
  return startedAt === undefined ? { pid } : { pid, startedAt };
}

/** Reports whether this very process is running. */
export function isRunning(identity: ProcessIdentity): boolean {
  try {
    process.kill(identity.pid, 0);
  } catch (error) {
    if (isErrno(error, "ESRCH")) return false;
    if (!isErrno(error, "EPERM")) throw error;
  }
  if (isZombie(identity.pid)) return false;
  return identity.startedAt === undefined || identity.startedAt === readStart(identity.pid);
}

/** Returns the arguments of a running process; undefined if they cannot be read. */
export function readArguments(pid: number): readonly string[] | undefined {
  const text = readProc(pid, "cmdline");
  return text === undefined ? undefined : text.split("\0").slice(0, -1);
}

/** Stops a process with `gentle`, and with SIGKILL after `graceMs`. Returns whether SIGKILL was unnecessary. */
export async function stopProcess(
  identity: ProcessIdentity,
  graceMs: number,
  gentle: "SIGTERM" | "SIGINT" = "SIGTERM",
): Promise<boolean> {
  if (!isRunning(identity)) return true;
  signal(identity.pid, gentle);
  if (await waitForEnd(identity, graceMs)) return true;
  signal(identity.pid, "SIGKILL");
  await waitForEnd(identity, 5_000);
  return false;
}

/** Waits until a process has ended. Returns false if it is still running after `timeoutMs`. */
export async function waitForEnd(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (isRunning(identity)) {
    if (Date.now() > deadline) return false;
    await sleep(15);
  }
  return true;
}

/** Reads the process stored in a file, with the rest of the file; undefined if there is no such file. */
export function readProcessFile(
  path: string,
): { identity: ProcessIdentity; rest: Readonly<Record<string, unknown>> } | undefined {
  const rest = asRecord(readJson(path));
  if (!rest || typeof rest["pid"] !== "number") return undefined;
  const { pid, startedAt } = rest;
  return { identity: typeof startedAt === "string" ? { pid, startedAt } : { pid }, rest };
}

/** Stores the identity of a running process in a file. */
export function writeProcessFile(path: string, pid: number, rest: object = {}): ProcessIdentity {
  const identity = identifyProcess(pid);
  writeJson(path, { ...identity, ...rest });
  return identity;
}

function signal(pid: number, name: "SIGTERM" | "SIGINT" | "SIGKILL"): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!isErrno(error, "ESRCH")) throw error;
  }
}

function readStart(pid: number): string | undefined {
  const fields = statFields(pid);
  const boot = readBootId();
  return fields?.[19] === undefined || boot === undefined ? undefined : `${boot}:${fields[19]}`;
}

function isZombie(pid: number): boolean {
  return statFields(pid)?.[0] === "Z";
}

/** Returns the fields of /proc/PID/stat from the state on. The name before it can contain any character. */
function statFields(pid: number): readonly string[] | undefined {
  const stat = readProc(pid, "stat");
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function readBootId(): string | undefined {
  return readIfExists("/proc/sys/kernel/random/boot_id")?.trim();
}

function readProc(pid: number, file: string): string | undefined {
  return readIfExists(`/proc/${pid}/${file}`);
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT") || isErrno(error, "ESRCH") || isErrno(error, "EACCES")) {
      return undefined;
    }
    throw error;
  }
}
