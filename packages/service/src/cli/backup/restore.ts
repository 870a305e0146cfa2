import { hasDatabase, restoreBackup, verifyBackup } from "../../backups/index.ts";
import type { Config } from "../../config/index.ts";
import { migrateServiceDatabase, openEmptyDatabase } from "../../roles/database.ts";
import { createLog, type Log } from "../../telemetry/log.ts";
import type { Call, Result } from "../command.ts";
import { describe, listKept } from "./kept.ts";

const NEXT = [
  "Before a settler runs: stop every process of the old installation, whose lanes are the same.",
  "Then start the scanner, wait until it is at the head, and run `sluice audit`: it names each chain that is ahead of this database.",
  "The service signs nothing there until `sluice audit end`. `sluice doctor` tells what else is missing.",
];

type Restored = Awaited<ReturnType<typeof restoreBackup>>;

/** Restores a backup: its database into the empty one of the configuration, and the journals and keystores that are missing. */
export async function run(call: Call, { folder }: { readonly folder: string }): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const log = createLog({ level: config.logLevel, role: "command" });
  const kept = listKept(config, call.configPath());
  const isWhole = hasDatabase(await verifyBackup(folder));
  const { manifest, files } = isWhole
    ? await restoreWhole(config, log, { kept, folder })
    : await restoreBackup({ database: null, ...kept }, folder);
  // Those of a newer version, and the rights of the attestors' users.
  const applied = isWhole ? await migrateServiceDatabase(config, log) : [];
  const next = isWhole ? NEXT : [];
  const text = [
    describe(folder, manifest),
    ...files.map(({ path, outcome }) => `${path}: ${outcome}`),
    ...(applied.length > 0 ? [`applied ${applied.join(", ")}`] : []),
    ...next,
  ].join("\n");
  return { json: { folder, restoredTo: manifest.startedAt, files, applied, next }, text };
}

async function restoreWhole(
  config: Config,
  log: Log,
  { kept, folder }: { readonly kept: ReturnType<typeof listKept>; readonly folder: string },
): Promise<Restored> {
  const database = await openEmptyDatabase(config, log);
  try {
    return await restoreBackup({ database, ...kept }, folder);
  } finally {
    await database.close();
    await database.stopServer({ leave: true });
  }
}
