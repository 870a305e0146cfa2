/**
 * Processes by identity. A process id alone is not one: after a reboot it may belong to anybody, so files that name a
 * process also keep when it started, and nothing is ever signalled on a bare number.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { asRecord, isErrno, readJson, writeJson } from "./json-file.ts";

/** A process, as a file remembers it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Boot and start time; absent where the system has no /proc. */
  readonly startedAt?: string;
}

/** The identity of a running process. */
export function identifyProcess(pid: number): ProcessIdentity {
  const startedAt = readStart(pid);
  return startedAt === undefined ? { pid } : { pid, startedAt };
}

/** True while this very process runs. */
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

/** Arguments of a running process; undefined where they cannot be read. */
export function readArguments(pid: number): readonly string[] | undefined {
  const text = readProc(pid, "cmdline");
  return text === undefined ? undefined : text.split("\0").slice(0, -1);
}

/** Asks a process to end, and ends it when it has not after `graceMs`. Returns whether it ended by itself. */
export async function stopProcess(
  identity: ProcessIdentity,
  graceMs: number,
  polite: "SIGTERM" | "SIGINT" = "SIGTERM",
): Promise<boolean> {
  if (!isRunning(identity)) return true;
  signal(identity.pid, polite);
  if (await waitForEnd(identity, graceMs)) return true;
  signal(identity.pid, "SIGKILL");
  await waitForEnd(identity, 5_000);
  return false;
}

/** Waits until a process has ended; false when it still runs after `timeoutMs`. */
export async function waitForEnd(identity: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (isRunning(identity)) {
    if (Date.now() > deadline) return false;
    await sleep(15);
  }
  return true;
}

/** The process that a file remembers, with the rest of the file; undefined when there is no such file. */
export function readProcessFile(
  path: string,
): { identity: ProcessIdentity; rest: Readonly<Record<string, unknown>> } | undefined {
  const rest = asRecord(readJson(path));
  if (!rest || typeof rest["pid"] !== "number") return undefined;
  const { pid, startedAt } = rest;
  return { identity: typeof startedAt === "string" ? { pid, startedAt } : { pid }, rest };
}

/** Remembers a running process in a file. */
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

/** The fields of /proc/PID/stat from the state on; the name before it may hold anything. */
function statFields(pid: number): readonly string[] | undefined {
  const stat = readProc(pid, "stat");
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function readBootId(): string | undefined {
  return readIfThere("/proc/sys/kernel/random/boot_id")?.trim();
}

function readProc(pid: number, file: string): string | undefined {
  return readIfThere(`/proc/${pid}/${file}`);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT") || isErrno(error, "ESRCH") || isErrno(error, "EACCES")) {
      return undefined;
    }
    throw error;
  }
}
