import { type Config, listSolanaChains } from "../config/index.ts";
import { createWakeups } from "../jobs/wakeups.ts";
import { addressFormat } from "../roles/address-format.ts";
import { openAttestations } from "../roles/attestations.ts";
import { createChains } from "../roles/chains.ts";
import { TOPICS } from "../roles/context.ts";
import { createWatch } from "../roles/health.ts";
import { createConfiguredPrices } from "../roles/prices.ts";
import { createSettlementDeps } from "../roles/settlement-deps.ts";
import { createCrashPoint, systemClock, systemHttp, systemRandom } from "../roles/system-ports.ts";
import { createRoutes } from "../routes/index.ts";
import type { SettlementDeps } from "../settlements/index.ts";
import { createLog } from "../telemetry/log.ts";
import { withDatabase } from "./with-database.ts";

/** Opens the dependencies of the settlement functions. Nothing is signed here: lanes send the transactions queued. */
export function withSettlements<Result>(
  config: Config,
  run: (deps: SettlementDeps) => Promise<Result>,
): Promise<Result> {
  return withDatabase(config, async ({ db, pool, address }) => {
    const log = createLog({ level: config.logLevel, role: "command" });
    const clock = systemClock;
    const wakeups = createWakeups({ address, pool, clock, log });
    try {
      const chains = createChains(config, { clock, log, db });
      const wakeAttestor = () => wakeups.wake(TOPICS.attestations);
      const http = systemHttp;
      const watch = createWatch(config, clock, []);
      const { metrics } = watch;
      const attestations = openAttestations(config, { http, clock, log, metrics });
      const prices = createConfiguredPrices(config, { chains, http, clock, log, metrics });
      const random = systemRandom;
      const shared = { db, clock, random, chains, prices, attestations };
      const context = {
        config,
        ...shared,
        log,
        watch,
        crashPoint: createCrashPoint(config.crashAt),
        wakeups,
        http,
        routes: createRoutes(config, { ...shared, log, metrics, wakeAttestor }),
        format: addressFormat,
      };
      return await run(createSettlementDeps(context, listSettleLanes(config)));
    } finally {
      await wakeups.close();
    }
  });
}

/** The lanes that send refunds: on Solana the first fee payer, whose key follows from the seed. */
function listSettleLanes(config: Config): SettlementDeps["lanes"] {
  return new Map(
    listSolanaChains(config).map(({ chainId, accounts: { settle } }) => [
      chainId,
      { deploy: [], settle: [settle] },
    ]),
  );
}
