import { resolve } from "node:path";
import { createBackup } from "../../backups/index.ts";
import { getTip } from "../../scanner/index.ts";
import { systemClock } from "../../roles/system-ports.ts";
import { readVersion } from "../../roles/version.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";
import { describe, listKept } from "./kept.ts";

/** Backs up the database, and the journals and keystores of this machine. */
export async function run(call: Call, { folder }: { readonly folder: string }): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const target = resolve(folder);
  const manifest = await withDatabase(config, async ({ db, address }) => {
    const scanned = [];
    for (const { chainId } of config.chains) {
      const tip = await getTip(db, chainId);
      if (tip) scanned.push({ chainId, height: tip.number });
    }
    const source = { db, address, clock: systemClock, version: readVersion(), scanned };
    return createBackup({ ...source, ...listKept(config, call.configPath()) }, target);
  });
  return { json: { folder: target, ...manifest }, text: describe(target, manifest) };
}
