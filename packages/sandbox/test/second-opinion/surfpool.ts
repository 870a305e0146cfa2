/**
 * Runs surfpool, an independent implementation of a Solana node for tests, as a child process. It is not a dependency of
 * the project: the package is downloaded on demand to a temporary directory, and rejected if its hash is not the pinned
 * one.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const PACKAGE = "@solana/surfpool-linux-x64-gnu@1.5.0";
const SHA512 =
  "d+wUCBdzw7U4inKoe+Lj7XlH8Nmd6A00IZOsG3R61NQbqhRVp7zFpVCCzV00RvgAOsSedkI87I6B4ehAuyGPAg==";
const CHILD = fileURLToPath(new URL("surfpool-process.ts", import.meta.url));

/** A running node. */
export interface Surfpool {
  readonly url: string;
  stop(): Promise<void>;
}

/** Downloads the package and starts the node. */
export async function startSurfpool(): Promise<Surfpool> {
  const dir = mkdtempSync(join(tmpdir(), "sluice-surfpool-"));
  const remove = (): void => rmSync(dir, { recursive: true, force: true });
  try {
    run("npm", ["pack", "--silent", PACKAGE], dir);
    const archive = readdirSync(dir).find((name) => name.endsWith(".tgz"));
    if (archive === undefined) throw new Error(`npm pack ${PACKAGE} wrote no archive`);
    const hash = createHash("sha512")
      .update(readFileSync(join(dir, archive)))
      .digest("base64");
    if (hash !== SHA512) {
      throw new Error(`${PACKAGE} has sha512 ${hash}, expected ${SHA512}`);
    }
    run("tar", ["xzf", archive], dir);
    const child = spawn(process.execPath, [CHILD, join(dir, "package")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(child, "exit");
    const [url] = await Promise.race([
      once(createInterface({ input: child.stdout }), "line"),
      exited.then(([code]) => Promise.reject(new Error(`surfpool exited with code ${code}`))),
    ]);
    return {
      url: String(url),
      stop: async () => {
        child.kill();
        await exited;
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

function run(command: string, args: readonly string[], cwd: string): void {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`);
}
