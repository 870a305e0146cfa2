/**
 * Settlements per second: pays to as many new addresses at once, and waits until each is completed. Prints the ratio to what
 * the bare nodes do with the same number of payments and payouts, and the statements and requests of one settlement.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { type Sandbox, startSandbox } from "@sluice/sandbox";
import { connectStream } from "@sluice/sdk";
import { type Address, getAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { divide, type Division, type Observed } from "./division.ts";
import { insertRows } from "./history.ts";
import { readProcessorTimes } from "./processes.ts";
import { apiKeyOf, issue, payAll, type Route, ROUTES } from "./deposits.ts";

const DEADLINE_MS = 900_000;

interface Measured {
  readonly route: Route;
  readonly deposits: number;
  readonly seconds: number;
  /** Of the bare nodes with the same number of payments on the source and payouts on the destination. */
  readonly bareSeconds: number;
  /** Milliseconds of processors for one settlement, by program. */
  readonly processors: Readonly<Record<string, number>>;
  readonly statements: number;
  readonly requests: Readonly<Record<string, number>>;
  /** Requests by chain and method. */
  readonly methods: Readonly<Record<string, number>>;
  readonly frequent: readonly (readonly [string, number])[];
  /** Seconds until the first, the median and the last of the deposits reached a status. */
  readonly reached: Readonly<Record<string, readonly number[]>>;
}

/** Measures and prints. */
export async function benchThroughput(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      deposits: { type: "string", default: "200" },
      "block-ms": { type: "string", default: "1000" },
      /** Rows of history, in databases of their own. */
      rows: { type: "string", default: "0" },
      /** Processes that the service is divided among, in sandboxes of their own. */
      processes: { type: "string", default: "1" },
      /** Statements that are listed, the most frequent first. */
      statements: { type: "string", default: "25" },
      json: { type: "boolean", default: false },
    },
  });
  const deposits = Number(values.deposits);
  const shown = Number(values.statements);
  const intervalMs = Number(values["block-ms"]);
  for (const processes of values.processes.split(",").map(Number)) {
    for (const rows of values.rows.split(",").map(Number)) {
      const measured = await measure({ deposits, shown, intervalMs, rows, processes });
      if (processes > 1) console.log(`\nIn ${processes} processes`);
      if (rows > 0) console.log(`\nOn ${rows} addresses, settlements, deposits and events`);
      console.log(
        values.json ? JSON.stringify(measured, null, 2) : measured.map(describe).join("\n\n"),
      );
    }
  }
}

/** Measures both routes in a sandbox of its own. */
async function measure(options: {
  readonly deposits: number;
  readonly shown: number;
  readonly intervalMs: number;
  readonly rows: number;
  readonly processes: number;
}): Promise<readonly Measured[]> {
  const { deposits, shown, intervalMs, rows, processes } = options;
  const stateDir = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  // The embedded PostgreSQL runs as `nobody` where the benchmark runs as root.
  chmodSync(stateDir, 0o755);
  const statementsPath = join(stateDir, "statements.json");
  const env = (path: string) => ({
    NODE_OPTIONS: `--import=${new URL("count-statements.ts", import.meta.url).href}`,
    BENCH_STATEMENTS: path,
  });
  const ports = { ethereum: 0, base: 0, solana: 0, api: 0, quote: 0, telemetry: 0, control: 0 };
  const sandbox = await startSandbox({
    stateDir,
    ports,
    mining: { intervalMs },
    env: env(statementsPath),
  });
  let division: Division | undefined;
  try {
    if (rows > 0) await insertRows(sandbox, { stateDir, rows });
    if (processes > 1) division = await divide(sandbox, { processes, env });
    const parts = division?.parts ?? [
      { telemetryUrl: sandbox.service.telemetryUrl ?? "", statementsPath },
    ];
    const measured: Measured[] = [];
    for (const route of ["SWIFT", "MONO_CHAIN"] as const) {
      // The first ones warm up code and caches.
      await settle(sandbox, parts, { route, deposits: 10, shown });
      measured.push(await settle(sandbox, parts, { route, deposits, shown }));
    }
    return measured;
  } finally {
    await division?.stop();
    await sandbox.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

async function settle(
  sandbox: Sandbox,
  parts: readonly Observed[],
  { route, deposits, shown }: Pick<Measured, "route" | "deposits"> & { readonly shown: number },
): Promise<Measured> {
  const bareSeconds = await measureBare(sandbox, { route, deposits });
  const addresses = await issue(sandbox, { route, deposits });
  const completed = watchCompleted(sandbox, addresses);
  await completed.connected;
  const before = await read(parts);
  const startMs = performance.now();
  const timesBefore = readProcessorTimes();
  await payAll(sandbox, ROUTES[route].from, addresses);
  await completed.all;
  const seconds = (performance.now() - startMs) / 1_000;
  const times = subtract(readProcessorTimes(), timesBefore);
  const after = await read(parts);
  const statements = subtract(after.statements, before.statements);
  return {
    route,
    deposits,
    seconds,
    bareSeconds,
    processors: perDeposit(times, deposits / 1_000),
    statements: sum(statements) / deposits,
    reached: Object.fromEntries(
      [...completed.times].map(([status, times]) => {
        const places = [0, Math.floor(times.length / 2), times.length - 1];
        return [status, places.map((place) => ((times[place] ?? Number.NaN) - startMs) / 1_000)];
      }),
    ),
    requests: perDeposit(subtract(after.requests, before.requests), deposits),
    methods: perDeposit(subtract(after.methods, before.methods), deposits),
    frequent: [...statements]
      .map(
        ([text, count]) => [text.replaceAll(/\s+/g, " ").slice(0, 160), count / deposits] as const,
      )
      .sort((one, other) => other[1] - one[1])
      .slice(0, shown),
  };
}

/** Returns the seconds in which the bare nodes take a payment and a payout of each deposit. */
async function measureBare(
  sandbox: Sandbox,
  { route, deposits }: Pick<Measured, "route" | "deposits">,
): Promise<number> {
  const { from, to } = ROUTES[route];
  const owners = Array.from(
    { length: deposits },
    () => privateKeyToAccount(generatePrivateKey()).address,
  );
  const startMs = performance.now();
  await Promise.all([
    payAll(sandbox, from, owners),
    from === to ? [] : payAll(sandbox, to, owners),
  ]);
  await Promise.all([untilEmpty(sandbox, from), untilEmpty(sandbox, to)]);
  return (performance.now() - startMs) / 1_000;
}

async function untilEmpty(sandbox: Sandbox, chain: "ethereum" | "base"): Promise<void> {
  const { client } = sandbox.chains[chain];
  for (;;) {
    const { pending } = await client.getTxpoolStatus();
    if (Number(pending) === 0) return;
    await sleep(20);
  }
}

/** Watches the stream until every address has a completed settlement. */
export function watchCompleted({ descriptor }: Sandbox, addresses: readonly Address[]) {
  const apiKey = apiKeyOf(descriptor);
  const left = new Set(addresses);
  /** When each status was announced. */
  const times = new Map<string, number[]>();
  const connected = Promise.withResolvers<void>();
  const all = Promise.withResolvers<void>();
  const timer = setTimeout(
    () => all.reject(new Error(`${left.size} deposits were not settled`)),
    DEADLINE_MS,
  );
  const stream = connectStream({
    baseUrl: descriptor.baseUrl,
    apiKey,
    onConnected: () => connected.resolve(),
    onEvent({ type, data }) {
      const status = type === "status_changed" ? data.status : type;
      const seen = times.get(status);
      if (seen) seen.push(performance.now());
      else times.set(status, [performance.now()]);
      if (type === "status_changed" && data.status === "completed") {
        left.delete(getAddress(data.walletAddress));
      }
      if (left.size === 0) all.resolve();
    },
  });
  return {
    connected: connected.promise,
    times,
    all: all.promise.finally(() => {
      clearTimeout(timer);
      stream.close();
    }),
  };
}

type Counts = ReadonlyMap<string, number>;

async function read(parts: readonly Observed[]) {
  // Each process writes them twice a second.
  await sleep(1_000);
  const statements = new Map<string, number>();
  const requests = new Map<string, number>();
  const methods = new Map<string, number>();
  for (const { telemetryUrl, statementsPath } of parts) {
    const counted = existsSync(statementsPath) ? readFileSync(statementsPath, "utf8") : "[]";
    for (const [statement, count] of JSON.parse(counted)) add(statements, statement, count);
    const text = await (await fetch(`${telemetryUrl}/metrics`)).text();
    for (const line of text.matchAll(/^sluice_rpc_requests_total\{(.*?)\} (\S+)$/gm)) {
      const chain = /chain="([^"]*)"/.exec(line[1] ?? "")?.[1] ?? "";
      const method = /method="([^"]*)"/.exec(line[1] ?? "")?.[1] ?? "";
      add(requests, chain, Number(line[2]));
      add(methods, `${chain} ${method}`, Number(line[2]));
    }
  }
  return { statements, requests, methods };
}

function add(counts: Map<string, number>, key: string, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count);
}

function perDeposit(counts: Counts, deposits: number): Readonly<Record<string, number>> {
  return Object.fromEntries([...counts].map(([key, count]) => [key, count / deposits]));
}

function subtract(after: Counts, before: Counts): Counts {
  return new Map([...after].map(([key, count]) => [key, count - (before.get(key) ?? 0)]));
}

function sum(counts: Counts): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}

function describe(measured: Measured): string {
  const { route, deposits, seconds, bareSeconds, statements, requests, frequent } = measured;
  const perSecond = deposits / seconds;
  const bare = deposits / bareSeconds;
  const list = (counts: Readonly<Record<string, number>>) =>
    Object.entries(counts)
      .filter(([, count]) => count >= 0.05)
      .sort((one, other) => other[1] - one[1])
      .map(([name, count]) => `${name} ${count.toFixed(1)}`)
      .join(", ");
  return [
    `${route}: ${deposits} deposits in ${seconds.toFixed(1)} s, ${perSecond.toFixed(1)} settlements/s`,
    `the bare nodes: ${bare.toFixed(0)} of their payments and payouts per second, ratio ${(perSecond / bare).toFixed(3)}`,
    `first, median and last after s: ${Object.entries(measured.reached)
      .map(([status, times]) => `${status} ${times.map((s) => s.toFixed(1)).join(" ")}`)
      .join(", ")}`,
    `of one settlement: ${statements.toFixed(1)} statements, requests ${list(requests)}`,
    `milliseconds of processors of one settlement: ${list(measured.processors)}`,
    `by method: ${list(measured.methods)}`,
    ...frequent.map(([text, count]) => `${count.toFixed(2).padStart(8)}  ${text}`),
  ].join("\n");
}
