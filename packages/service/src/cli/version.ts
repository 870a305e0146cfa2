import { readFileSync } from "node:fs";
import { getNewestMigration } from "../db/migrate.ts";
import type { Result } from "./command.ts";

/** Prints the versions. Needs no configuration. */
export async function run(): Promise<Result> {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );
  const { version } = manifest;
  const { node } = process.versions;
  const schema = await getNewestMigration();
  return {
    json: { version, node, schema },
    text: `sluice ${version} (Node ${node}, schema ${schema})`,
  };
}
