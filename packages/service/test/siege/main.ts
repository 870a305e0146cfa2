/**
 * `npm run siege -- --minutes 10`: an honest integrator's deposits, first alone and then while all attacks are played at
 * once. It holds if every honest deposit is completed and paid once, the 99th percentile of the time from payment to
 * completion stays within three times of the quiet one, and the audit names no breach. `--players dust,pauses` plays some,
 * and `--log FILE` keeps the service's log.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type RemoteProvider, spawnProvider } from "@sluice/sandbox/provider";
import { setTimeout as sleep } from "node:timers/promises";
import { listHostileTokens } from "../support/hostile-tokens.ts";
import { openWorld } from "../support/world.ts";
import { readSiege, siegeOptions } from "./arguments.ts";
import { startHonest } from "./honest.ts";
import { PLAYERS } from "./players.ts";
import { play, type Played } from "./scene.ts";

const LATENCY_MS = 80;
/** Milliseconds between two honest deposits. */
const EVERY_MS = 2_000;
/** Milliseconds for the last deposits after the siege. */
const FINISH_MS = 180_000;
/** Number of deposits whose course is printed. */
const SLOWEST = 10;
/** Most times of the quiet percentile. */
const RATIO_MAX = 3;

const { values } = parseArgs({
  options: {
    ...siegeOptions({ siege: "10", quiet: "2" }),
    log: { type: "string" },
  },
});

const { minutes, quietMinutes, chosen: players } = readSiege(values, PLAYERS);

/** Returns the value below which a share of the values lies. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, next) => one - next);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

function describe(name: string, seconds: readonly number[]): string {
  const at = (share: number) => quantile(seconds, share).toFixed(1);
  return `${name}: ${seconds.length} deposits, seconds p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)}`;
}

function describePlayed({ name, threats, actions, refused }: Played): string {
  const refusals = [...refused].map(([message, count]) => `\n    ${count} x ${message}`);
  return `  ${name} [${threats}]: ${actions} actions${refusals.join("")}`;
}

/** Returns what the audit finds, but for quarantines of the hostile token, which are its work; empty if that is nothing. */
async function auditOf(
  { command }: { command: (...args: readonly string[]) => Promise<unknown> },
  token: string,
): Promise<string> {
  // The command fails where a breach is open, and has printed it.
  const printed = await command("audit", "--json").catch((error: unknown) => {
    const { stdout = "", stderr = "" } = Object(error);
    return stdout === "" ? { failed: `${error} ${stderr}` } : JSON.parse(stdout);
  });
  const { ok, breaches = [] } = Object(printed);
  const others = breaches.filter((breach: object) => !JSON.stringify(breach).includes(token));
  return others.length > 0 || (ok !== true && breaches.length === 0) ? JSON.stringify(printed) : "";
}

const providers: RemoteProvider[] = [];
const world = await openWorld({
  blockMs: 500,
  // Blocks are final eight behind the head.
  slotsInAnEpoch: 4,
  delaySeconds: 0,
  pollIntervalMs: 500,
  nodesOf: async (_, rpcUrl) => {
    const provider = await spawnProvider({ upstream: rpcUrl, latencyMs: LATENCY_MS });
    providers.push(provider);
    return [provider.url];
  },
});
let holds = true;
try {
  const hostileTokens = await listHostileTokens(world);
  const honest = startHonest(world, EVERY_MS);
  const quietAt = performance.now();
  await sleep(quietMinutes * 60_000);
  const quietEndAt = performance.now();
  // Deposits of the quiet period also end in it.
  await honest.completed(FINISH_MS);
  const siegeAt = performance.now();
  const ending = new AbortController();
  const scene = { world, hostileTokens, providers, signal: ending.signal };
  const playing = Promise.all(players.map((player) => play(player, scene)));
  await Promise.race([sleep(minutes * 60_000), playing]);
  const endAt = performance.now();
  ending.abort();
  const played = await playing;
  await honest.finish(FINISH_MS);
  const quiet = honest.seconds(quietAt, quietEndAt);
  const siege = honest.seconds(siegeAt, endAt);
  const ratio = quantile(siege, 0.99) / quantile(quiet, 0.99);
  const wrong = await honest.check();
  console.log(
    [
      describe("quiet", quiet),
      describe("siege", siege),
      `ratio of the 99th percentiles: ${ratio.toFixed(2)} (at most ${RATIO_MAX})`,
      "slowest, with the second of each status:",
      ...honest.slowest(SLOWEST).map((line) => `  ${line}`),
      ...played.map(describePlayed),
      `honest deposits that went wrong: ${wrong.length}`,
      ...wrong.slice(0, 20).map((line) => `  ${line}`),
    ].join("\n"),
  );
  const audit = await auditOf(world, hostileTokens.tokens.ethereum.toLowerCase());
  console.log(`audit: ${audit === "" ? "ok" : audit.slice(0, 3000)}`);
  holds = ratio <= RATIO_MAX && wrong.length === 0 && audit === "";
  honest.close();
} finally {
  if (values.log) writeFileSync(values.log, world.readLog());
  await world.close();
  for (const provider of providers) await provider.close();
}
console.log(holds ? "the siege was held" : "the siege was not held");
process.exit(holds ? 0 : 1);
