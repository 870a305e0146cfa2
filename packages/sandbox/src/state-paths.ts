import { mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SandboxError } from "./errors.ts";

/** Marks a directory as a sandbox's state, so that no other directory is ever cleared. */
const MARKER = "sluice-sandbox.txt";
const MARKER_TEXT =
  "State of a Sluice sandbox. npm start -- --fresh deletes and recreates everything in this directory.\n";

/** Creates the directory if it is missing and returns its real path. Throws if it contains other files. */
export function claimStateDir(stateDir: string): string {
  mkdirSync(stateDir, { recursive: true });
  const entries = readdirSync(stateDir);
  if (entries.length > 0 && !entries.includes(MARKER)) {
    throw new SandboxError(
      `${stateDir} contains files that are not a sandbox's: choose an empty or new directory with --state-dir`,
    );
  }
  writeFileSync(join(stateDir, MARKER), MARKER_TEXT);
  return realpathSync(stateDir);
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
