/** New projects that install packages as their users do. */
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

/** Runs a program; its error has what it printed. */
export async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  const PATH = `/usr/local/bin:/usr/bin:/bin:${process.env["PATH"]}`;
  const { stdout } = await promisify(execFile)(command, args, {
    cwd,
    env: { ...process.env, PATH },
    maxBuffer: 1 << 26,
  });
  return stdout;
}

/** Opens a new project in a folder, with dependencies from the registry or from tarballs. */
export async function openProject(
  parent: string,
  name: string,
  dependencies: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = join(parent, name);
  mkdirSync(folder, { recursive: true });
  const manifest = { name, private: true, type: "module", dependencies };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  await run("npm", ["install", "--silent", "--no-audit", "--no-fund"], folder);
  return folder;
}
