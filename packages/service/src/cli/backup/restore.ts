import { restoreBackup } from "../../backups/index.ts";
import { migrateServiceDatabase, openEmptyDatabase } from "../../roles/database.ts";
import { createLog } from "../../telemetry/log.ts";
import type { Call, Result } from "../command.ts";
import { describe, listKept } from "./kept.ts";

const NEXT = [
  "Before a settler runs: stop every process of the old installation, whose lanes are the same.",
  "Then start the scanner, wait until it is at the head, and run `sluice audit`: it names each chain that is ahead of this database.",
  "The service signs nothing there until `sluice audit end`. `sluice doctor` tells what else is missing.",
];

/** Restores a backup into the empty database of the configuration, and places journals and keystores. */
export async function run(call: Call, { folder }: { readonly folder: string }): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const log = createLog({ level: config.logLevel, role: "command" });
  const database = await openEmptyDatabase(config, log);
  let restored: Awaited<ReturnType<typeof restoreBackup>>;
  try {
    const { db, address } = database;
    restored = await restoreBackup({ db, address, ...listKept(config, call.configPath()) }, folder);
  } finally {
    await database.close();
    await database.stopServer({ leave: true });
  }
  // Those of a newer version, and the rights of the attestors' users.
  const applied = await migrateServiceDatabase(config, log);
  const { manifest, files } = restored;
  const text = [
    describe(folder, manifest),
    ...files.map(({ path, outcome }) => `${path}: ${outcome}`),
    ...(applied.length > 0 ? [`applied ${applied.join(", ")}`] : []),
    ...NEXT,
  ].join("\n");
  return { json: { folder, restoredTo: manifest.startedAt, files, applied, next: NEXT }, text };
}
