import type { Descriptor } from "../descriptor.ts";
import { SandboxError } from "../errors.ts";
import { asRecord, readJson } from "../json-file.ts";
import { isRunning, readProcessFile } from "../processes.ts";
import { statePaths } from "../state-paths.ts";

/** Returns the descriptor of the sandbox that runs on a state directory. Throws a `SandboxError` if none runs there. */
export function findRunningSandbox(stateDir: string): Descriptor {
  const { lock, descriptor: path } = statePaths(stateDir);
  const holder = readProcessFile(lock);
  if (!holder || !isRunning(holder.identity)) {
    throw new SandboxError(
      `no sandbox is running on ${stateDir}: start one with npm start, or name its directory with --state-dir`,
    );
  }
  const descriptor = readJson(path);
  if (descriptor === undefined) {
    throw new SandboxError(`the sandbox on ${stateDir} is still starting: try again`);
  }
  if (!isDescriptor(descriptor)) {
    throw new SandboxError(`${path} is damaged: start the sandbox again`);
  }
  return descriptor;
}

function isDescriptor(value: unknown): value is Descriptor {
  const { baseUrl, quoteUrl, integrators, chains } = asRecord(value) ?? {};
  return (
    typeof baseUrl === "string" &&
    typeof quoteUrl === "string" &&
    Array.isArray(integrators) &&
    Array.isArray(chains)
  );
}
