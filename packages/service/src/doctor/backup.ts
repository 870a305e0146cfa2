import { isLocal } from "../config/index.ts";
import { type Check, judge } from "../core/check.ts";
import type { DoctorDeps } from "./facts.ts";

/** A daily backup may begin an hour late. */
const AGE_MAX_MS = 25 * 3_600_000;

/** Checks that a database with somebody's money in it is backed up. Nothing on a local chain needs that. */
export function checkBackup(
  { config, clock, getNewestBackup }: DoctorDeps,
  migrated: Check,
): readonly Check[] {
  if (config.chains.every((chain) => isLocal(chain))) return [];
  return [
    {
      id: "database.backup",
      subject: "database",
      needs: [migrated],
      async run() {
        const { backup, archived } = await getNewestBackup();
        const newest = [backup, archived]
          .flatMap((time) => time ?? [])
          .toSorted()
          .at(-1);
        const isFresh = newest !== undefined && clock.now() - Date.parse(newest) <= AGE_MAX_MS;
        return judge(isFresh, {
          found: `${backup ? `a backup of ${backup}` : "no backup"}, ${archived ? `WAL archived until ${archived}` : "no archived WAL"}`,
          expected: "a backup or archived WAL of the last 25 hours",
          advice: "Run `sluice backup create` every day, or have PostgreSQL archive its WAL.",
          otherwise: "warning",
        });
      },
    },
  ];
}
