import type { Config } from "../config/index.ts";
import { openServiceDatabase, type ServiceDatabase } from "../roles/database.ts";
import { createLog } from "../telemetry/log.ts";

/** Opens the database for one command, and afterwards stops an embedded server that it started. */
export async function withDatabase<Result>(
  config: Config,
  run: (database: ServiceDatabase) => Promise<Result>,
): Promise<Result> {
  const log = createLog({ level: config.logLevel, role: "command" });
  const database = await openServiceDatabase(config, log);
  try {
    return await run(database);
  } finally {
    await database.close();
    if (database.startedServer) await database.stopServer();
  }
}
