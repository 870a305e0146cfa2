/**
 * Settles deposits at a steady rate for a time, and shows whether anything grows with it: memory, descriptors, the tables, or
 * the time of a settlement.
 *
 *     npm run bench -- soak --minutes 60 --per-second 40 [--json]
 */
import { readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { Sandbox } from "@sluice/sandbox";
import { sql } from "kysely";
import type { Address } from "viem";
import { issue, payAll, ROUTES, watchCompletions } from "./deposits.ts";
import { openDatabaseOf } from "./history.ts";
import { median } from "./median.ts";
import { readProcess } from "./processes.ts";
import { withSandbox } from "./sandbox.ts";

/** USDC base units: an hour of payments is less than the payers have. */
const AMOUNT = 1_300_000n;
/**
 * Addresses that are paid in turn: customers deposit again, and a chain whose accounts become more with each deposit slows down
 * the nodes of the sandbox.
 */
const ADDRESSES = 12_000;
/** More than anything reads back. */
const BLOCKS_KEPT = 200;
/** Rows of the table that is printed. */
const WINDOWS = 12;
/** Deposits that are not completed by then are lost. */
const END_MS = 120_000;

/** One row of the table. */
interface Window {
  readonly minute: number;
  readonly paid: number;
  readonly completed: number;
  /** From the payment to completion, of the deposits that were completed in it. */
  readonly "median s": number;
  readonly "most s": number;
  readonly "memory MiB": number;
  readonly descriptors: number;
  /** Of the service's event loop, since the last window. */
  readonly "loop p99 ms": number;
  readonly "dead rows": number;
  /** Of the whole database. */
  readonly "kB per settlement": number;
}

export async function benchSoak(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: "string", default: "60" },
      "per-second": { type: "string", default: "20" },
      json: { type: "boolean", default: false },
    },
  });
  const minutes = Number(values.minutes);
  const perSecond = Number(values["per-second"]);
  await withSandbox(
    async (sandbox, stateDir) => {
      const { db, close } = await openDatabaseOf(stateDir);
      try {
        const windows = await soak(sandbox, db, { minutes, perSecond });
        if (values.json) console.log(JSON.stringify(windows, null, 2));
        else console.table(windows);
      } finally {
        await close();
      }
    },
    { mining: { intervalMs: 1_000 }, blocksKept: BLOCKS_KEPT },
  );
}

async function soak(
  sandbox: Sandbox,
  db: Database,
  { minutes, perSecond }: { readonly minutes: number; readonly perSecond: number },
): Promise<readonly Window[]> {
  /** The one that was paid the longest ago first. */
  const issued: Address[] = [];
  const paidAt = new Map<Address, number>();
  let latencies: number[] = [];
  let completed = 0;
  const close = await watchCompletions(sandbox, (wallet) => {
    const paidMs = paidAt.get(wallet);
    if (paidMs === undefined) return;
    paidAt.delete(wallet);
    completed += 1;
    latencies.push((performance.now() - paidMs) / 1_000);
  });
  const windows: Window[] = [];
  let paid = 0;
  const startMs = performance.now();
  const windowMs = (minutes * 60_000) / WINDOWS;
  while (windows.length < WINDOWS) {
    const isNew = issued.length < ADDRESSES;
    const addresses = isNew
      ? await issue(sandbox, { route: "SWIFT", deposits: perSecond })
      : issued.splice(0, perSecond);
    issued.push(...addresses);
    for (const address of addresses) paidAt.set(address, performance.now());
    await payAll(sandbox, ROUTES.SWIFT.from, addresses, AMOUNT);
    paid += addresses.length;
    const elapsedMs = performance.now() - startMs;
    if (elapsedMs >= windowMs * (windows.length + 1)) {
      const own = latencies;
      latencies = [];
      const window: Window = {
        minute: Math.round(elapsedMs / 6_000) / 10,
        paid,
        completed,
        "median s": round(median(own)),
        "most s": round(Math.max(...own)),
        ...(await observe(sandbox, db)),
      };
      windows.push(window);
      console.error(JSON.stringify(window));
    }
    await sleep(Math.max(0, startMs + (paid / perSecond) * 1_000 - performance.now()));
  }
  for (const endMs = performance.now() + END_MS; paidAt.size > 0; await sleep(500)) {
    if (performance.now() > endMs) throw new Error(`${paidAt.size} deposits were not completed`);
  }
  close();
  return windows;
}

type Database = Awaited<ReturnType<typeof openDatabaseOf>>["db"];

async function observe({ service }: Sandbox, db: Database) {
  const metrics = await (await fetch(`${service.telemetryUrl}/metrics`)).text();
  const lag = Number(/^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(metrics)?.[1]);
  const { rows } = await sql<{ dead: string; bytes: string; settlements: string }>`
    select (select sum(n_dead_tup) from pg_stat_user_tables)::text as dead,
      pg_database_size(current_database())::text as bytes,
      (select count(*) from settlements)::text as settlements`.execute(db);
  const [{ dead = "", bytes = "", settlements = "" } = {}] = rows;
  return {
    "memory MiB": Math.round(readProcess(service.pid).memoryMiB),
    descriptors: readdirSync(`/proc/${service.pid}/fd`).length,
    "loop p99 ms": round(lag * 1_000),
    "dead rows": Number(dead),
    "kB per settlement": round(Number(bytes) / 1_000 / Number(settlements)),
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
