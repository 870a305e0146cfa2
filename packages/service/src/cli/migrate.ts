import { migrateServiceDatabase } from "../roles/database.ts";
import { createLog } from "../telemetry/log.ts";
import type { Call, Result } from "./command.ts";

/** Brings the schema and the attestors' grants up to date, and prints the migrations that were applied. */
export async function run(call: Call): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const log = createLog({ level: config.logLevel, role: "command" });
  const applied = await migrateServiceDatabase(config, log);
  const text = applied.length === 0 ? "the schema is up to date" : `applied ${applied.join(", ")}`;
  return { json: { migrated: true, applied }, text };
}
