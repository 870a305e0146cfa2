import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { SandboxError } from "./errors.ts";

/** Reads and parses a file; undefined if it does not exist. The caller checks the shape. */
export function readJson(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw error;
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new SandboxError(`${path} is damaged: start again with --fresh`);
  }
}

/** Writes a file atomically, so that a kill leaves the old content or the new. Only the owner can read it. */
export function writeJson(path: string, value: unknown): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, path);
}

/** Reports whether an error of the operating system has this code. */
export function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/** Returns the value if it is an object, otherwise undefined. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : undefined;
}
