/**
 * Has more requests than the process of all roles can serve arrive from several integrators while deposits are settled: before,
 * during and after, the time from a payment to its completion, and during it the answers of each integrator.
 *
 *     npm run bench -- overload [--integrators 8] [--connections 16] [--deposits 60]
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Sandbox } from "@sluice/sandbox";
import { issue, payAll, ROUTES } from "./deposits.ts";
import { createKeys, insertRows } from "./history.ts";
import { median } from "./median.ts";
import type { Answers } from "./overload-load.ts";
import { withSandbox } from "./sandbox.ts";
import { watchCompleted } from "./throughput.ts";

const LOAD = join(import.meta.dirname, "overload-load.ts");
/** The integrators' lists are full pages. */
const ROWS = 10_000;
const MANY = 1_000_000;
/** After the end of the load, everything is as before within this time. */
const RECOVERY_MS = 10_000;

export async function benchOverload(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      integrators: { type: "string", default: "8" },
      connections: { type: "string", default: "16" },
      deposits: { type: "string", default: "60" },
    },
  });
  const deposits = Number(values.deposits);
  await withSandbox(async (sandbox, stateDir) => {
    await insertRows(sandbox, { stateDir, rows: ROWS });
    const keys = await createKeys(sandbox, { stateDir, count: Number(values.integrators) });
    const config = JSON.parse(readFileSync(sandbox.configPath, "utf8"));
    config.rateLimits = { ...config.rateLimits, perKey: MANY };
    writeFileSync(sandbox.configPath, JSON.stringify(config));
    await sandbox.restartService();
    // Code and caches warm up.
    await settle(sandbox, 10);
    const before = await settle(sandbox, deposits);
    const url = `${sandbox.service.baseUrl}/events?limit=200`;
    const load = fork(LOAD, [url, values.connections, ...keys]);
    await sleep(RECOVERY_MS);
    const during = await settle(sandbox, deposits);
    const reported = once(load, "message");
    load.send("end");
    // CAST: what the process of the load sends.
    const [counts] = (await reported) as [readonly Answers[]];
    await sleep(RECOVERY_MS);
    const after = await settle(sandbox, deposits);
    console.table({ before, during, after });
    console.table(counts);
    const served = counts.map((answers) => answers["200"] ?? 0);
    console.log(`served per integrator: ${Math.min(...served)} to ${Math.max(...served)}`);
  });
}

/** Pays new addresses at once, and returns the seconds until they were completed. */
async function settle(sandbox: Sandbox, deposits: number) {
  const addresses = await issue(sandbox, { route: "SWIFT", deposits });
  const completed = watchCompleted(sandbox, addresses);
  await completed.connected;
  const startMs = performance.now();
  await payAll(sandbox, ROUTES.SWIFT.from, addresses);
  await completed.all;
  const times = (completed.times.get("completed") ?? []).map((ms) => (ms - startMs) / 1000);
  return {
    "median s": median(times).toFixed(1),
    "most s": Math.max(...times).toFixed(1),
    "settlements/s": (deposits / Math.max(...times)).toFixed(1),
  };
}
