/** Backups of an installation: the database, the signers' journals and the keystores of a machine. */
export { BACKUP_GAUGES } from "./gauges.ts";
export { createBackup, type BackupSource } from "./create.ts";
export { hasDatabase, type Manifest, verifyBackup } from "./manifest.ts";
export { restoreBackup } from "./restore.ts";
export { getNewestBackup } from "./store.ts";
