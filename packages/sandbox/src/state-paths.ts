import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeFileError, SandboxError } from "./errors.ts";

/** Marks a directory as a sandbox's state, so that no other directory is ever cleared. */
const MARKER = "sluice-sandbox.txt";
const MARKER_TEXT =
  "State of a Sluice sandbox. npm start -- --fresh deletes and recreates everything in this directory.\n";
/** Raised when a saved state can no longer be resumed. Markers of the first format do not name it. */
const FORMAT = 3;

/**
 * Creates the directory if it is missing and returns its real path.
 * @throws SandboxError if it cannot be used: it has other files, cannot be written, or, unless its state is to be deleted
 *   (`fresh`), another version of the sandbox wrote it.
 */
export function claimStateDir(stateDir: string, { fresh = false } = {}): string {
  try {
    mkdirSync(stateDir, { recursive: true });
    const entries = readdirSync(stateDir);
    if (entries.length > 0 && !entries.includes(MARKER)) {
      throw new SandboxError(
        `${stateDir} contains files that are not a sandbox's: choose an empty or new directory with --state-dir`,
      );
    }
    // A directory with nothing but the marker has no state of any version.
    if (!fresh && entries.length > 1) assertFormat(stateDir);
    markStateDir(stateDir, entries.length > 1 && fresh ? readFormat(stateDir) : FORMAT);
    return realpathSync(stateDir);
  } catch (error) {
    throw describeFileError(error);
  }
}

/** Marks a directory as a sandbox's, once it has no state of another format. */
export function markStateDir(stateDir: string, format = FORMAT): void {
  writeFileSync(join(stateDir, MARKER), `${MARKER_TEXT}Format ${format}.\n`);
}

function assertFormat(stateDir: string): void {
  const format = readFormat(stateDir);
  if (format === FORMAT) return;
  throw new SandboxError(
    `${stateDir} has the state of another version of the sandbox (format ${format}, expected ${FORMAT}): start again with --fresh, which deletes it, or choose another directory with --state-dir`,
  );
}

function readFormat(stateDir: string): number {
  const text = readFileSync(join(stateDir, MARKER), "utf8");
  return Number(/^Format (\d+)\.$/m.exec(text)?.[1] ?? 1);
}

/** Returns the paths in a state directory. `contents` are all paths that the sandbox creates, and that it removes. */
export function statePaths(stateDir: string) {
  const at = (...parts: string[]) => join(stateDir, ...parts);
  return {
    lock: at("sandbox.lock"),
    nodes: at("nodes"),
    keys: at("keys"),
    database: at("service"),
    deployment: at("deployment.json"),
    integrators: at("integrators.json"),
    serviceConfig: at("service.json"),
    servicePid: at("service.pid"),
    serviceLog: at("service.log"),
    descriptor: at("sandbox.json"),
    contents: [
      "nodes",
      "keys",
      "service",
      "deployment.json",
      "integrators.json",
      "service.json",
      "service.pid",
      "service.log",
      "sandbox.json",
    ].map((name) => at(name)),
  } as const;
}
