import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { SandboxError } from "./errors.ts";

/** The parsed content of a file, or undefined when there is none. The caller checks the shape. */
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
    throw new SandboxError(`${path} is damaged: begin anew with --fresh`);
  }
}

/** Writes a file in one step, so that a kill leaves the old content or the new. Readable by its owner only. */
export function writeJson(path: string, value: unknown): void {
  const half = `${path}.${process.pid}.tmp`;
  writeFileSync(half, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(half, path);
}

/** True for an error of the operating system with this code. */
export function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/** The value as an object, or undefined. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : undefined;
}
