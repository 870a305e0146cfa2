/**
 * Which Node runs the program. Plain JavaScript: it is read by Nodes that cannot run TypeScript, and by those that are
 * not tested with this version.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";

/** The major version that the dependency `node-<platform>-<arch>` pins. */
export const PINNED_MAJOR = 24;

/**
 * Decides between this process (`null`) and the binary at the returned path.
 * @param {string} version of this process
 * @param {() => string | null} findPinned returns the path of the pinned binary, null where it is not installed
 * @returns {string | null}
 * @throws {Error} with a line for the user when neither can run the program
 */
export function chooseNode(version, findPinned) {
  const major = Number(version.split(".")[0]);
  if (major === PINNED_MAJOR) return null;
  const pinned = findPinned();
  if (pinned !== null) return pinned;
  if (major > PINNED_MAJOR) return null;
  throw new Error(
    `sluice needs Node ${PINNED_MAJOR}, this is ${version}, and the pinned Node is not installed. ` +
      `Run \`npm install\` where it is available (Linux on x64 and arm64), or install Node ${PINNED_MAJOR}.`,
  );
}

/** Returns the path of the pinned binary; null where its package is not installed. */
export function findPinnedNode() {
  const name = `node-${process.platform}-${process.arch}/package.json`;
  try {
    const path = createRequire(import.meta.url)
      .resolve(name)
      .replace(/package\.json$/, "bin/node");
    return existsSync(path) ? path : null;
  } catch {
    // Not every platform has such a package.
    return null;
  }
}

/**
 * Runs a command in place of this process: same streams, signals forwarded, and it ends as the command ends.
 * @param {string} path
 * @param {readonly string[]} args
 */
export function runInstead(path, args) {
  const child = spawn(path, args, { stdio: "inherit" });
  const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    process.stderr.write(`${path} cannot be started: ${error.message}\n`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code);
    // With its handler removed, the signal ends this process as it ended the other.
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
