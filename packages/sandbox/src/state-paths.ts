import { mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SandboxError } from "./errors.ts";

/** Marks a folder as a sandbox's, so that nothing else is ever cleared. */
const MARKER = "sluice-sandbox.txt";
const MARKER_TEXT =
  "State of a Sluice sandbox. Everything here is made again by npm start -- --fresh.\n";

/** Makes the folder if need be and returns its real path. Refuses one that holds something else. */
export function claimStateDir(stateDir: string): string {
  mkdirSync(stateDir, { recursive: true });
  const entries = readdirSync(stateDir);
  if (entries.length > 0 && !entries.includes(MARKER)) {
    throw new SandboxError(
      `${stateDir} holds something that is no sandbox: choose an empty or a new folder with --state-dir`,
    );
  }
  writeFileSync(join(stateDir, MARKER), MARKER_TEXT);
  return realpathSync(stateDir);
}

/** Where things lie in a state directory. `contents` is all that the sandbox ever makes, and all that it removes. */
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
