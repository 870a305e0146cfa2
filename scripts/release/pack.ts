/** Packs built packages into tarballs, as `npm publish` would. */
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Built } from "./build.ts";

/** Packs packages into a folder. Returns the path of each tarball, by the name of its package. */
export function packPackages(built: readonly Built[], to: string): ReadonlyMap<string, string> {
  mkdirSync(to, { recursive: true });
  return new Map(
    built.map(({ name, folder }) => {
      const args = ["pack", "--json", "--silent", "--pack-destination", to];
      const printed = execFileSync("npm", args, { cwd: folder, encoding: "utf8" });
      const [{ filename }] = JSON.parse(printed);
      return [name, join(to, filename)];
    }),
  );
}
