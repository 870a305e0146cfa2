/** Runs the service in the root file system of its image: read-only, and as the image's user. Needs root. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { promisify } from "node:util";

/** Runs in a mount namespace of its own, in which the root is read-only. */
const INSIDE =
  'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec chroot --userspec=10001:10001 "$0" "$@"';
const PROGRAM = ["/nodejs/bin/node", "/app/node_modules/@sluice/service/bin/sluice.js"];

/** The environment of the image. */
const ENV = {
  NODE_ENV: "production",
  SLUICE_CONFIG: "/etc/sluice/sluice.json",
  CREDENTIALS_DIRECTORY: "/run/secrets",
};

const commandOf = (root: string, program: readonly string[]) =>
  ["unshare", ["--mount", "sh", "-c", INSIDE, root, ...program]] as const;

/** Runs a program in the root to its end. Rejects with its output where it fails. */
export async function runInside(root: string, program: readonly string[]): Promise<string> {
  const [command, args] = commandOf(root, program);
  const { stdout } = await promisify(execFile)(command, args, { env: ENV });
  return stdout;
}

/** Runs `sluice` in the root to its end. */
export const runSluice = (root: string, ...args: readonly string[]): Promise<string> =>
  runInside(root, [...PROGRAM, ...args]);

/** Starts `sluice` in the root. The process is the service's own, as in a container. */
export function startSluice(root: string, ...args: readonly string[]): ChildProcess {
  const [command, given] = commandOf(root, [...PROGRAM, ...args]);
  return spawn(command, given, { env: ENV, stdio: ["ignore", "pipe", "pipe"] });
}
