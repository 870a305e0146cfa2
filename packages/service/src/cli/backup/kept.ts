/** What a machine keeps besides the database, and how a backup of it is described. */
import { hasDatabase, type Manifest } from "../../backups/index.ts";
import { type Config, listKeystoreFiles, SIGNER_NAMES } from "../../config/index.ts";
import { journalPath } from "../../roles/keys.ts";

/** Lists where the journals and keystores of this machine belong. */
export function listKept(config: Config, configPath: string) {
  return {
    journals: SIGNER_NAMES.map((name) => journalPath(config, name)),
    keystores: listKeystoreFiles(configPath),
  };
}

export function describe(folder: string, manifest: Manifest): string {
  const { startedAt, schema, files, journals, keystores, scanned } = manifest;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return [
    `${folder}: ${hasDatabase(manifest) ? `the database of ${startedAt} (schema ${schema})` : `no database, files of ${startedAt}`}, ${files.length} files, ${bytes} bytes`,
    ...scanned.map(({ chainId, height }) => `  chain ${chainId} to block ${height}`),
    ...journals.map(({ path, entries }) => `  ${path}: ${entries} signatures`),
    ...keystores.map(({ path, setting }) => `  ${path}: ${setting}, encrypted`),
  ].join("\n");
}
