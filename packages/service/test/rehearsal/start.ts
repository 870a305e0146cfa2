/**
 * `npm run rehearsal`: three machines, each a network namespace with users of its own, go live by the commands of the documents,
 * take deposits, and lose power, network, database, key and chain in turn; they are upgraded under load, back and again. The
 * books are proved at the end. It needs root, or `sudo` without a password, and PostgreSQL of Debian.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installReleases } from "./releases.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-rehearsal-"));
// Users of the machines read their programs here.
chmodSync(folder, 0o755);
try {
  await installReleases(folder);
  const unshare = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const program = ["unshare", ...unshare, process.execPath, join(import.meta.dirname, "main.ts")];
  const root = process.getuid?.() === 0 ? [] : ["sudo", "-n", "-E"];
  // The end of the first process in the namespace of processes ends all of them.
  const [command = "", ...args] = [...root, ...program, folder];
  const child = spawn(command, args, { stdio: ["pipe", "inherit", "inherit"] });
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => child.kill("SIGKILL"));
  const [code] = await once(child, "exit");
  process.exitCode = code ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
