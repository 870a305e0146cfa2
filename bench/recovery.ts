/**
 * The first completion after a kill: pays new addresses, kills the service with all its roles at a random moment while they
 * are settled, starts it again at once, and waits for the first of the open deposits to be completed, and for all.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { type Sandbox, startSandbox } from "@sluice/sandbox";
import { type Address, getAddress } from "viem";
import { clientOf, issue, payAll } from "./deposits.ts";
import { median } from "./median.ts";

const DEPOSITS = 4;
const POLL_MS = 50;
const DEADLINE_MS = 300_000;

/** Seconds of one kill. */
interface Measured {
  /** From the payment to the kill. */
  readonly killedAfter: number;
  /** From the kill until the service is ready again. */
  readonly ready: number;
  /** From then until the first completion of a deposit that was open, and until the last. */
  readonly first: number;
  readonly last: number;
}

/** Measures and prints. */
export async function benchRecovery(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kills: { type: "string", default: "20" },
      "block-ms": { type: "string", default: "1000" },
      json: { type: "boolean", default: false },
    },
  });
  const stateDir = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  // The embedded PostgreSQL runs as `nobody` where the benchmark runs as root.
  chmodSync(stateDir, 0o755);
  const ports = { ethereum: 0, base: 0, solana: 0, api: 0, quote: 0, telemetry: 0, control: 0 };
  const mining = { intervalMs: Number(values["block-ms"]) };
  const sandbox = await startSandbox({ stateDir, ports, mining });
  try {
    const quiet = await settleQuietly(sandbox);
    const measured: Measured[] = [];
    while (measured.length < Number(values.kills)) {
      const one = await killOnce(sandbox, Math.random() * quiet * 1_000);
      if (one) measured.push(one);
    }
    const figures = { quiet, kills: measured.length, ...summarise(measured) };
    console.log(values.json ? JSON.stringify({ figures, measured }) : describe(figures));
  } finally {
    await sandbox.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** Returns the seconds from payment to completion without a kill, at the median of five. */
async function settleQuietly(sandbox: Sandbox): Promise<number> {
  const seconds: number[] = [];
  for (let turn = 0; turn < 5; turn += 1) {
    const addresses = await issue(sandbox, { route: "SWIFT", deposits: DEPOSITS });
    const paidMs = performance.now();
    await payAll(sandbox, "ethereum", addresses);
    seconds.push(((await waitFor(sandbox, addresses, 1)) - paidMs) / 1_000);
  }
  return median(seconds);
}

/** Kills once. Returns null if everything was completed before. */
async function killOnce(sandbox: Sandbox, afterMs: number): Promise<Measured | null> {
  const addresses = await issue(sandbox, { route: "SWIFT", deposits: DEPOSITS });
  const paidMs = performance.now();
  await payAll(sandbox, "ethereum", addresses);
  await sleep(Math.max(0, afterMs - (performance.now() - paidMs)));
  const done = await listCompleted(sandbox, addresses);
  const killedMs = performance.now();
  await sandbox.service.kill();
  await sandbox.restartService();
  const readyMs = performance.now();
  const open = addresses.filter((address) => !done.has(address));
  if (open.length === 0) return null;
  const firstMs = await waitFor(sandbox, open, 1);
  const lastMs = await waitFor(sandbox, open, open.length);
  return {
    killedAfter: (killedMs - paidMs) / 1_000,
    ready: (readyMs - killedMs) / 1_000,
    first: (firstMs - readyMs) / 1_000,
    last: (lastMs - readyMs) / 1_000,
  };
}

async function listCompleted(
  sandbox: Sandbox,
  addresses: readonly Address[],
): Promise<ReadonlySet<Address>> {
  const { items } = await clientOf(sandbox).listSwaps({ status: "completed", limit: 100 });
  const completed = new Set(items.map(({ walletAddress }) => getAddress(walletAddress)));
  return new Set(addresses.filter((address) => completed.has(address)));
}

/** Waits until so many are completed, and returns when. */
async function waitFor(
  sandbox: Sandbox,
  addresses: readonly Address[],
  count: number,
): Promise<number> {
  const deadline = performance.now() + DEADLINE_MS;
  for (;;) {
    if ((await listCompleted(sandbox, addresses)).size >= count) return performance.now();
    if (performance.now() > deadline) throw new Error("the deposits were not settled");
    await sleep(POLL_MS);
  }
}

function summarise(measured: readonly Measured[]) {
  const of = (name: keyof Measured) => measured.map((one) => one[name]);
  const both = (name: keyof Measured) => ({ median: median(of(name)), max: Math.max(...of(name)) });
  return { ready: both("ready"), first: both("first"), last: both("last") };
}

function describe(figures: ReturnType<typeof summarise> & { quiet: number; kills: number }) {
  const line = (name: string, { median: middle, max }: { median: number; max: number }) =>
    `${name.padEnd(36)} median ${middle.toFixed(1)} s, at most ${max.toFixed(1)} s, ratio of the medians ${(middle / figures.quiet).toFixed(2)}`;
  return [
    `payment to first completion without a kill: median ${figures.quiet.toFixed(1)} s`,
    `after ${figures.kills} kills of all roles:`,
    line("kill until the service is ready", figures.ready),
    line("ready until the first completion", figures.first),
    line("ready until the last", figures.last),
  ].join("\n");
}
