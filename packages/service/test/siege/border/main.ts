/**
 * `npm run siege -- border --minutes 5`: attacks on the interface, first none and then all at once, beside an honest
 * integrator, on a million rows. Each figure is printed with its bound. `--players pings,lists` plays some, and `--rows 10000` inserts fewer, to try something
 * out. The honest
 * integrator and the service share the machine with the attackers, whose processes come last on it.
 */
import { type ChildProcess, fork } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { loadConfig } from "../../../src/roles/config.ts";
import { socketDirOf } from "../../../src/db/embedded-home.ts";
import { openDatabase } from "../../../src/db/pool.ts";
import { authenticate, createKey } from "../../../src/integrators/index.ts";
import { systemRandom } from "../../../src/roles/system-ports.ts";
import { insertHistory, ROWS, walletOf } from "../../support/million-rows.ts";
import { insertEvent, insertStatusEvent } from "../../support/tenants.ts";
import { openWorld, type World } from "../../support/world.ts";
import { readSiege, siegeOptions } from "../arguments.ts";
import type { Target } from "./attack.ts";
import type { Report } from "./attacker.ts";
import { ATTACKS, KEYS } from "./attacks.ts";
import { HONEST, type Measures, quantile, startMeasures } from "./measures.ts";

/** Indexes of the world's integrators that attack, and that own the other half of the rows. */
const HOSTILE = 0;
const OTHER = 2;
/** Time for start-up work to end before it is quiet, in milliseconds. */
const WARM_UP_MS = 20_000;
/** After the siege, everything is as before within this time, in milliseconds. */
const RECOVERY_MS = 10_000;
const AFTER_MS = 30_000;
/** A deposit that is not shown after this time is missing, in milliseconds. */
const MISSING_MS = 10_000;
/** Chains of the million rows: known ones that the world does not have, so that no role works on them. */
const FOREIGN_CHAINS = { usual: 4, rare: 23 };
const WALLETS = 20;

const { values } = parseArgs({
  options: {
    ...siegeOptions({ siege: "5", quiet: "1" }),
    rows: { type: "string", default: String(ROWS) },
  },
});

const rows = Number(values.rows);
const { minutes, quietMinutes, chosen: attacks } = readSiege(values, ATTACKS);

/** Gives the hostile integrator half of a million rows, keys and wallets, and returns what attackers know. */
async function prepare(world: World): Promise<Target> {
  const socketDir = socketDirOf(world.databaseFolder());
  const address = { socketDir, user: "sluice", database: "postgres" };
  const { db, close } = await openDatabase(address, { max: 2 });
  const keys: string[] = [];
  try {
    const pepper = loadConfig({ path: world.configPath, env: {} }).apiKeyPepper;
    const deps = { db, pepper, random: systemRandom };
    const hostile = await authenticate(deps, world.apiKeyOf(HOSTILE));
    const other = await authenticate(deps, world.apiKeyOf(OTHER));
    for (let n = 0; n < KEYS; n += 1) {
      const created = { integrator: hostile.integratorId, depositAddresses: true };
      keys.push((await createKey(deps, created)).apiKey);
    }
    const tenant = { id: hostile.integratorId, name: "", keyId: "", apiKey: "" };
    await insertEvent(db, tenant, FOREIGN_CHAINS.usual);
    await insertStatusEvent(db, tenant, systemRandom.uuid());
    const tenants = [hostile.integratorId, other.integratorId];
    await insertHistory(db, { tenants, chains: FOREIGN_CHAINS, count: rows });
  } finally {
    await close();
  }
  const wallets: string[] = [];
  for (let n = 0; n < WALLETS; n += 1) {
    const recipient = world.newRecipient();
    const ways = { from: "ethereum", to: "base" } as const;
    const { address: wallet } = await world.quote({
      ...ways,
      recipient,
      userId: recipient,
      by: HOSTILE,
    });
    wallets.push(wallet);
  }
  const { ethereum, base } = world.deployment.chains;
  return {
    ...world.serviceUrls(),
    keys,
    wallets,
    history: {
      wallets: Array.from({ length: 100 }, (_, n) => walletOf(2 * n)),
      txHash: `0x${createHash("sha256").update("t2").digest("hex")}`,
    },
    tokens: { ethereum: ethereum.token, base: base.token },
  };
}

/** Starts the process of an attack. */
function startAttack(name: string, target: Target): ChildProcess {
  const child = fork(join(import.meta.dirname, "attacker.ts"), { stdio: "inherit" });
  child.send({ name, target });
  return child;
}

/** Ends an attack and returns what it did. */
async function endAttack(child: ChildProcess): Promise<Report> {
  const reported = once(child, "message");
  child.send("end");
  // CAST: the attacker sends its report.
  const [report] = (await reported) as [Report];
  return report;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

interface Bound {
  readonly name: string;
  readonly value: number;
  readonly max: number;
  readonly unit: string;
}

/** Returns each figure of the siege and of the time after it with its bound. */
function listBounds({ series }: Measures, spans: Record<"quiet" | "siege" | "after", Span>) {
  const at = (name: keyof typeof series, { from, to }: Span, share: number) =>
    quantile(series[name].between(from, to), share);
  const { quiet, siege, after } = spans;
  const before = (name: "api" | "stream" | "detection", spareMs: number): Bound => {
    const quietMs = at(name, quiet, 0.9);
    const max = Math.max(2 * quietMs, quietMs + spareMs);
    return { name: `${name} p90 afterwards`, value: at(name, after, 0.9), max, unit: "ms" };
  };
  const megabyte = 2 ** 20;
  const bounds: readonly Bound[] = [
    { name: "API p99", value: at("api", siege, 0.99), max: 250, unit: "ms" },
    { name: "stream, slowest", value: at("stream", siege, 1), max: 1_000, unit: "ms" },
    { name: "detection, slowest", value: at("detection", siege, 1), max: 2_000, unit: "ms" },
    {
      name: "memory, most",
      value: at("memory", siege, 1) / megabyte,
      max: (1.5 * at("memory", quiet, 1)) / megabyte,
      unit: "MiB",
    },
    { name: "event loop held, longest", value: at("loop", siege, 1), max: 200, unit: "ms" },
    before("api", 20),
    before("stream", 50),
    before("detection", 250),
    {
      name: "descriptors afterwards",
      value: at("descriptors", after, 1),
      // The pools of the database stay open for a while.
      max: at("descriptors", quiet, 1) + 40,
      unit: "",
    },
  ];
  return bounds;
}

function describeBound({ name, value, max, unit }: Bound): string {
  const figure = (n: number) => `${n.toFixed(0)} ${unit}`.trimEnd();
  return `  ${value <= max ? "held    " : "NOT HELD"}  ${name}: ${figure(value)} (at most ${figure(max)})`;
}

function describeQuiet({ series }: Measures, { from, to }: Span): string {
  const lines = (["api", "stream", "detection", "loop"] as const).map((name) => {
    const values = series[name].between(from, to);
    const [p50, p99, max] = [0.5, 0.99, 1].map((share) => quantile(values, share).toFixed(0));
    return `  ${name}: ${values.length} values, ms p50 ${p50}, p99 ${p99}, max ${max}`;
  });
  return lines.join("\n");
}

const describeLoad = () => (loadavg()[0] ?? 0).toFixed(1);

const world = await openWorld({ telemetry: true, ownLimits: true });
let holds = true;
try {
  const seededAt = performance.now();
  const target = await prepare(world);
  console.log(`${rows} rows in ${((performance.now() - seededAt) / 1_000).toFixed(0)} s`);
  const measures = startMeasures(world);
  await sleep(WARM_UP_MS);
  const span = async (ms: number): Promise<Span> => {
    const from = performance.now();
    await sleep(ms);
    return { from, to: performance.now() };
  };
  const quiet = await span(quietMinutes * 60_000);
  console.log(`load of the machine while quiet: ${describeLoad()}`);
  const attackers = attacks.map(({ name }) => startAttack(name, target));
  const siege = await span(minutes * 60_000);
  console.log(`load of the machine in the siege: ${describeLoad()}`);
  const reports = await Promise.all(attackers.map(endAttack));
  const failedBefore = measures.failures.length;
  await sleep(RECOVERY_MS);
  const after = await span(AFTER_MS);
  await measures.stop();
  const missing = measures.missing(MISSING_MS);
  const spans = { quiet, siege, after };
  const bounds = listBounds(measures, spans);
  console.log(
    [
      "quiet",
      describeQuiet(measures, quiet),
      "siege",
      describeQuiet(measures, siege),
      ...attacks.map(({ name, threats }, index) => {
        const outcomes = Object.entries(reports[index]?.outcomes ?? {});
        const done = outcomes.map(([outcome, times]) => `${outcome}: ${times}`).join(", ");
        return `  ${name} [${threats}]: ${done || "nothing"}`;
      }),
      ...bounds.map(describeBound),
      `  deposits not shown: ${missing}`,
      `  failed calls of integrator ${HONEST}: ${measures.failures.length} (${failedBefore} in the siege)`,
      ...measures.failures.slice(0, 20).map((failure) => `    ${failure}`),
    ].join("\n"),
  );
  holds = bounds.every(({ value, max }) => value <= max);
  holds &&= missing === 0 && measures.failures.length === 0;
} finally {
  await world.close();
}
console.log(holds ? "the border was held" : "the border was not held");
process.exit(holds ? 0 : 1);
