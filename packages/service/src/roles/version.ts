import { readFileSync } from "node:fs";

/** Returns the version of the package. */
export function readVersion(): string {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );
  return manifest.version;
}
