import { getNewestMigration } from "../db/migrate.ts";
import { readVersion } from "../roles/version.ts";
import type { Result } from "./command.ts";

/** Prints the versions. Needs no configuration. */
export async function run(): Promise<Result> {
  const version = readVersion();
  const { node } = process.versions;
  const schema = await getNewestMigration();
  return {
    json: { version, node, schema },
    text: `sluice ${version} (Node ${node}, schema ${schema})`,
  };
}
