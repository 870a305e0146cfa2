import { resolve } from "node:path";
import { createBackup } from "../../backups/index.ts";
import { getTip } from "../../scanner/index.ts";
import { systemClock } from "../../roles/system-ports.ts";
import { readVersion } from "../../roles/version.ts";
import type { Call, Result } from "../command.ts";
import { withDatabase } from "../with-database.ts";
import { describe, listKept } from "./kept.ts";

/** Backs up the database, and the journals and keystores of this machine. */
export async function run(
  call: Call,
  { folder, filesOnly }: { readonly folder: string; readonly filesOnly: boolean },
): Promise<Result> {
  const config = call.readConfig({ roles: [] });
  const target = resolve(folder);
  const kept = listKept(config, call.configPath());
  const facts = { clock: systemClock, version: readVersion(), ...kept };
  const manifest = filesOnly
    ? await createBackup({ ...facts, database: null }, target)
    : await withDatabase(config, async ({ db, address }) => {
        const scanned = [];
        for (const { chainId } of config.chains) {
          const tip = await getTip(db, chainId);
          if (tip) scanned.push({ chainId, height: tip.number });
        }
        return createBackup({ ...facts, database: { db, address, scanned } }, target);
      });
  return { json: { folder: target, ...manifest }, text: describe(target, manifest) };
}
