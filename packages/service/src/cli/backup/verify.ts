import { verifyBackup } from "../../backups/index.ts";
import type { Call, Result } from "../command.ts";
import { describe } from "./kept.ts";

/** Verifies a backup. Needs no configuration and no database. */
export async function run(_: Call, { folder }: { readonly folder: string }): Promise<Result> {
  const manifest = await verifyBackup(folder);
  return {
    json: { folder, ...manifest },
    text: `${describe(folder, manifest)}\nEvery file is as it was written.`,
  };
}
