/** The two releases of the rehearsal as they are installed: this one, and the one before. */
import { execFile } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompressSync } from "node:zlib";
import { buildPackages } from "../../../../scripts/release/build.ts";
import { packPackages } from "../../../../scripts/release/pack.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../../../..");

/** Packages of commit 7dd3f3d as they were installed, without source maps and types: a tar archive, compressed with Brotli. */
const BEFORE = join(import.meta.dirname, "../recorded/release-before/7dd3f3d.tar.br");

/** Folders of the releases below the rehearsal's. */
export const RELEASES = { now: "release-now", before: "release-before" } as const;

/** Packs and installs this release by npm, and lays the packages of the one before beside the same dependencies. */
export async function installReleases(folder: string): Promise<void> {
  // In the repository: the compiler finds the dependencies there.
  const built = buildPackages(join(ROOT, "release/rehearsal"), ["contracts", "sdk", "service"]);
  const tarballs = packPackages(built, join(folder, "tarballs"));
  const now = join(folder, RELEASES.now);
  const flags = ["--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
  await run("npm", ["install", "--prefix", now, ...flags, ...tarballs.values()], { cwd: folder });
  linkProgram(now);
  rmSync(join(ROOT, "release/rehearsal"), { recursive: true, force: true });

  const before = join(folder, RELEASES.before);
  cpSync(now, before, { recursive: true, verbatimSymlinks: true });
  const scope = join(before, "node_modules/@sluice");
  const names = readdirSync(scope);
  rmSync(scope, { recursive: true });
  mkdirSync(scope);
  const archive = join(folder, "before.tar");
  writeFileSync(archive, brotliDecompressSync(readFileSync(BEFORE)));
  await run("tar", ["xf", archive, "-C", scope, ...names]);
}

function linkProgram(folder: string): void {
  mkdirSync(join(folder, "bin"));
  symlinkSync("../node_modules/.bin/sluice", join(folder, "bin/sluice"));
}
