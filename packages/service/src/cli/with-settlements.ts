import type { Config } from "../config/index.ts";
import { createWakeups } from "../jobs/wakeups.ts";
import { takeParts } from "../roles/context.ts";
import { createHealth } from "../roles/health.ts";
import { createParts } from "../roles/parts.ts";
import { createSettlementDeps, INTAKE_PARTS, listRefundLanes } from "../roles/settlement-deps.ts";
import { systemClock } from "../roles/system-ports.ts";
import type { SettlementDeps } from "../settlements/index.ts";
import { createLog } from "../telemetry/log.ts";
import { withDatabase } from "./with-database.ts";

/** Opens the dependencies of the settlement functions. Signs nothing: the lanes of the service send queued transactions. */
export function withSettlements<Result>(
  config: Config,
  run: (deps: SettlementDeps) => Promise<Result>,
): Promise<Result> {
  return withDatabase(config, async ({ db, pool, address }) => {
    const log = createLog({ level: config.logLevel, role: "command" });
    const clock = systemClock;
    const wakeups = createWakeups({ address, pool, clock, log });
    try {
      const health = createHealth(config, clock, []);
      const shared = { config, dbOf: () => db, log, health, wakeups };
      const partsOf = createParts({ ...shared, lanes: undefined, findVault: undefined });
      const parts = takeParts(partsOf("settler"), INTAKE_PARTS);
      return await run(createSettlementDeps(parts, listRefundLanes(config)));
    } finally {
      await wakeups.close();
    }
  });
}
