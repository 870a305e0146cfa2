/**
 * Seconds from a payment to its completed settlement, by inventory to another chain: each to a new address, one at a time, on
 * chains with blocks of one second. Payouts wait for one block, or for finality. Prints the ratio to the two transactions that
 * it takes at least, one on each bare node.
 */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Sandbox, startSandbox } from "@sluice/sandbox";
import type { Address } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { issue, payAll, ROUTES, watchCompletions } from "./deposits.ts";
import { median } from "./median.ts";

/** Measures and prints. */
export async function benchSpeed(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      deposits: { type: "string", default: "20" },
      "block-ms": { type: "string", default: "1000" },
      tier: { type: "string", default: "1" },
    },
  });
  const stateDir = mkdtempSync(join(tmpdir(), "sluice-bench-"));
  // The embedded PostgreSQL runs as `nobody` where the benchmark runs as root.
  chmodSync(stateDir, 0o755);
  const blockMs = Number(values["block-ms"]);
  const isEarly = values.tier !== "finalized";
  const sandbox = await startSandbox({
    stateDir,
    ports: { ethereum: 0, base: 0, solana: 0, api: 0, quote: 0, telemetry: 0, control: 0 },
    mining: { intervalMs: blockMs, idleIntervalMs: blockMs },
    ...(isEarly && {
      earlyPayouts: {
        exposureUsd: "1000000",
        tiers: [{ after: Number(values.tier), upToUsd: "1000" }],
      },
    }),
  });
  try {
    const count = Number(values.deposits);
    // The first one warms up code and caches.
    const [, ...seconds] = await settle(sandbox, { deposits: count + 1, blockMs });
    const bare = await sendBare(sandbox, { count, blockMs });
    const [middle, bareMiddle] = [median(seconds), median(bare)];
    const spread = `${Math.min(...seconds).toFixed(2)} to ${Math.max(...seconds).toFixed(2)}`;
    const when = isEarly ? `after ${values.tier} block(s)` : "once final";
    console.log(`paid ${when}: ${middle.toFixed(2)} s at the median of ${count}, ${spread}`);
    console.log(`two bare transactions: ${bareMiddle.toFixed(2)} s at the median`);
    console.log(`ratio ${(middle / bareMiddle).toFixed(2)}`);
  } finally {
    await sandbox.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** Returns the seconds of each settlement. */
async function settle(
  sandbox: Sandbox,
  { deposits, blockMs }: { readonly deposits: number; readonly blockMs: number },
): Promise<readonly number[]> {
  const addresses = await issue(sandbox, { route: "SWIFT", deposits });
  const waiting = new Map<Address, () => void>();
  const close = await watchCompletions(sandbox, (wallet) => waiting.get(wallet)?.());
  const seconds: number[] = [];
  for (const address of addresses) {
    // Payers know nothing of blocks.
    await sleep(Math.random() * blockMs);
    const completed = new Promise<void>((resolve) => waiting.set(address, resolve));
    seconds.push(
      await timed(async () => {
        await payAll(sandbox, ROUTES.SWIFT.from, [address]);
        await completed;
      }),
    );
  }
  close();
  return seconds;
}

/** Returns the seconds of two transactions on bare nodes, one after the other. */
async function sendBare(
  sandbox: Sandbox,
  { count, blockMs }: { readonly count: number; readonly blockMs: number },
): Promise<readonly number[]> {
  const seconds: number[] = [];
  const { from, to } = ROUTES.SWIFT;
  for (let at = 0; at < count; at++) {
    await sleep(Math.random() * blockMs);
    const { address } = privateKeyToAccount(generatePrivateKey());
    seconds.push(
      await timed(async () => {
        for (const chain of [from, to]) {
          await payAll(sandbox, chain, [address]);
          await untilMined(sandbox, chain);
        }
      }),
    );
  }
  return seconds;
}

async function untilMined(sandbox: Sandbox, chain: "ethereum" | "base"): Promise<void> {
  const { client } = sandbox.chains[chain];
  for (;;) {
    const { pending } = await client.getTxpoolStatus();
    if (Number(pending) === 0) return;
    await sleep(20);
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await work();
  return (performance.now() - startMs) / 1_000;
}
