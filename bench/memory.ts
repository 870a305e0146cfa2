/**
 * Measures the process of all roles on databases of different sizes: its memory and share of a processor while nothing is paid,
 * and its memory while deposits are settled.
 *
 *     npm run bench -- memory [--rows 1000,1000000] [--deposits 600] [--seconds 60]
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { issue, payAll, ROUTES } from "./deposits.ts";
import { insertRows } from "./history.ts";
import { readProcess } from "./processes.ts";
import { withSandbox } from "./sandbox.ts";
import { watchCompleted } from "./throughput.ts";

/** Start-up work ends within this time. */
const WARM_UP_MS = 20_000;
const SAMPLE_MS = 250;

export async function benchMemory(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: "string", default: "1000,1000000" },
      deposits: { type: "string", default: "600" },
      seconds: { type: "string", default: "60" },
    },
  });
  const results = [];
  for (const rows of values.rows.split(",").map(Number)) {
    results.push(
      await measure(rows, {
        deposits: Number(values.deposits),
        idleMs: Number(values.seconds) * 1000,
      }),
    );
  }
  console.table(results);
}

async function measure(
  rows: number,
  { deposits, idleMs }: { readonly deposits: number; readonly idleMs: number },
) {
  return withSandbox(async (sandbox, stateDir) => {
    await insertRows(sandbox, { stateDir, rows });
    const { pid } = await sandbox.restartService();
    await sleep(WARM_UP_MS);
    const before = readProcess(pid);
    await sleep(idleMs);
    const idle = readProcess(pid);
    const addresses = await issue(sandbox, { route: "SWIFT", deposits });
    const completed = watchCompleted(sandbox, addresses);
    await completed.connected;
    await payAll(sandbox, ROUTES.SWIFT.from, addresses);
    let isSettled = false;
    const settled = completed.all.then(() => (isSettled = true));
    let most = 0;
    while (!isSettled) {
      most = Math.max(most, readProcess(pid).memoryMiB);
      await Promise.race([settled, sleep(SAMPLE_MS)]);
    }
    return {
      rows,
      "idle MiB": Math.round(idle.memoryMiB),
      "idle % of a processor": (((idle.cpuS - before.cpuS) * 100_000) / idleMs).toFixed(1),
      "most MiB under load": Math.round(most),
    };
  });
}
