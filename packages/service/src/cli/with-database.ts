import type { Config } from "../config/index.ts";
import { openServiceDatabase, type ServiceDatabase } from "../roles/database.ts";
import { createLog } from "../telemetry/log.ts";

/** Opens the database for one command, and afterwards stops an embedded server that it started, unless it is to be kept. */
export async function withDatabase<Result>(
  config: Config,
  run: (database: ServiceDatabase) => Promise<Result>,
  { keepServer = false }: { readonly keepServer?: boolean } = {},
): Promise<Result> {
  const log = createLog({ level: config.logLevel, role: "command" });
  const database = await openServiceDatabase(config, log);
  try {
    return await run(database);
  } finally {
    await database.close();
    if (database.startedServer && !keepServer) await database.stopServer({ leave: true });
  }
}
