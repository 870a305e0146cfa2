/**
 * Measures the time from the commit of an event to the arrival of its webhook, with a real process of the role `webhooks`,
 * real PostgreSQL and real sockets, all on this machine; and the CPU time of each webhook, which another load of the machine
 * changes little. That of the database includes the commits of the events.
 *
 *     npm run bench -- webhooks [--endpoints 100] [--per-second 500] [--seconds 30]
 *     npm run bench -- webhooks --kills 200    # kills the process at every step of a delivery, and counts lost events
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { startEmbedded } from "../packages/service/src/db/embedded.ts";
import { migrateToLatest } from "../packages/service/src/db/migrate.ts";
import { openDatabase } from "../packages/service/src/db/pool.ts";
import { appendEvent } from "../packages/service/src/events/index.ts";
import { createIntegrator } from "../packages/service/src/integrators/index.ts";
import { createWakeups } from "../packages/service/src/jobs/wakeups.ts";
import { systemClock, systemRandom } from "../packages/service/src/roles/system-ports.ts";
import { createLog } from "../packages/service/src/telemetry/log.ts";
import { createAddressRules, createEndpoint } from "../packages/service/src/webhooks/index.ts";
import { PEPPER } from "../packages/service/test/support/tenants.ts";
import {
  describeWebhookRole,
  killWebhooks,
  WEBHOOK_STEPS,
} from "../packages/service/test/support/webhook-kills.ts";

const MAIN = join(import.meta.dirname, "../packages/service/src/main.ts");
const RANGES = ["127.0.0.0/8"];
const ENDPOINTS_OF_INTEGRATOR = 5;
const WRITERS = 8;

export async function benchWebhooks(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      endpoints: { type: "string", default: "100" },
      "per-second": { type: "string", default: "500" },
      seconds: { type: "string", default: "30" },
      kills: { type: "string", default: "0" },
    },
  });
  const endpoints = Number(values.endpoints);
  const perSecond = Number(values["per-second"]);
  const seconds = Number(values.seconds);
  const folder = mkdtempSync(join(tmpdir(), "sluice-bench-webhooks-"));
  // The embedded PostgreSQL runs as `nobody` where the benchmark runs as root.
  chmodSync(folder, 0o755);
  const log = createLog({ level: "warn", role: "bench" });
  const server = await startEmbedded({ stateDir: join(folder, "state"), log });
  const { db, pool, close } = await openDatabase(server.address, { max: WRITERS + 4 });
  await migrateToLatest(db);
  const kills = Number(values.kills);
  if (kills > 0) {
    const rounds = Math.ceil(kills / WEBHOOK_STEPS.length);
    const done = await killWebhooks({ db, folder, rounds });
    const { ends, events, arrived, missing } = done;
    console.table([{ kills: ends.length, events, arrived, lost: missing.join(" + ") }]);
    await close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
    return;
  }
  const wakeups = createWakeups({ address: server.address, pool, clock: systemClock, log });

  /** Commits by event id, and delays of arrivals. */
  const committed = new Map<string, number>();
  const early = new Map<string, number[]>();
  const delays: number[] = [];
  const receiver = createServer((request, response) => {
    request.resume();
    response.writeHead(204).end();
    const id = String(request.headers["webhook-id"]);
    const at = performance.now();
    const commit = committed.get(id);
    if (commit === undefined) early.set(id, [...(early.get(id) ?? []), at]);
    else delays.push(at - commit);
  });
  receiver.listen({ host: "127.0.0.1", port: 0 });
  await once(receiver, "listening");
  // CAST: a server that listens on a TCP port has such an address.
  const { port } = receiver.address() as AddressInfo;

  const deps = { db, clock: systemClock, random: systemRandom, pepper: PEPPER };
  const integrators: string[] = [];
  for (let n = 0; n < endpoints; n += 1) {
    if (n % ENDPOINTS_OF_INTEGRATOR === 0) {
      const facts = { refundEvm: `0x${"7".repeat(40)}`, maxFeeBps: 50, maxSlippageBps: 100 };
      const made = await createIntegrator(deps, { name: `bench-${n}`, ...facts });
      integrators.push(made.integratorId);
    }
    await createEndpoint(
      { ...deps, rules: createAddressRules(RANGES), endpointsMax: endpoints },
      {
        integratorId: integrators.at(-1) ?? "",
        url: `http://127.0.0.1:${port}/${n}`,
        description: null,
        types: null,
        extended: false,
        ordered: false,
        scheme: "v1a",
      },
    );
  }

  writeFileSync(join(folder, "service.json"), JSON.stringify(describeWebhookRole()));
  const service = spawn(process.execPath, [MAIN, "serve", "--roles", "webhooks"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PEPPER: PEPPER.reveal(),
      SLUICE_CONFIG: join(folder, "service.json"),
      SLUICE_LOG_LEVEL: "warn",
    },
  });
  if (service.stdout) await once(createInterface({ input: service.stdout }), "line");

  /** Appends an event and notes its commit. */
  async function append(integratorId: string): Promise<void> {
    let id = "";
    const random = { uuid: () => (id = systemRandom.uuid()) };
    const data = { walletAddress: "0x1", chainId: 2, tokenAddress: "0x2", queued: true };
    await db
      .transaction()
      .execute((tx) => appendEvent(tx, random, { integratorId, type: "deposit_detected", data }));
    const at = performance.now();
    committed.set(id, at);
    for (const arrival of early.get(id) ?? []) delays.push(arrival - at);
    wakeups.wake("events", integratorId);
  }

  const database = Number(readFileSync(findFile(folder, "postmaster.pid"), "utf8").split("\n")[0]);
  const readCpu = () => ({ service: cpuOf(service.pid ?? 0), database: cpuOf(database) });
  const perEvent = Math.min(endpoints, ENDPOINTS_OF_INTEGRATOR);
  const events = Math.round((perSecond / perEvent) * seconds);
  const cpuBefore = readCpu();
  const startMs = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: WRITERS }, async () => {
      for (let n = next++; n < events; n = next++) {
        const dueMs = startMs + (n * perEvent * 1_000) / perSecond;
        await delay(Math.max(0, dueMs - performance.now()));
        await append(integrators[n % integrators.length] ?? "");
      }
    }),
  );
  const writtenS = (performance.now() - startMs) / 1_000;
  const expected = events * perEvent;
  for (let n = 0; n < 600 && delays.length < expected; n += 1) await delay(100);

  const cpuAfter = readCpu();
  const cpuEach = (name: keyof typeof cpuAfter) =>
    (((cpuAfter[name] - cpuBefore[name]) * 1_000_000) / expected).toFixed(0);
  const sorted = delays.toSorted((one, other) => one - other);
  const at = (share: number) =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
  console.table([
    {
      endpoints,
      "webhooks/s": (expected / writtenS).toFixed(0),
      sent: expected,
      arrived: delays.length,
      "p50 ms": at(0.5),
      "p95 ms": at(0.95),
      "p99 ms": at(0.99),
      "max ms": at(1),
      "service CPU us": cpuEach("service"),
      "database CPU us": cpuEach("database"),
    },
  ]);
  service.kill("SIGTERM");
  await once(service, "exit");
  receiver.closeAllConnections();
  receiver.close();
  await wakeups.close();
  await close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Clock ticks per second of the times in /proc. */
const TICKS = 100;

/** Returns the CPU time of a process and its children, in seconds. */
function cpuOf(pid: number): number {
  const children = readdirSync("/proc").flatMap((name) => {
    const stat = /^\d+$/.test(name) ? readStat(name) : undefined;
    return stat?.parent === pid ? [stat.own] : [];
  });
  const { own = 0, ended = 0 } = readStat(String(pid)) ?? {};
  return (own + ended + children.reduce((sum, one) => sum + one, 0)) / TICKS;
}

/** Reads the parent of a process, and its CPU time and that of its children that ended, in ticks. */
function readStat(pid: string) {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    // It has ended.
    return undefined;
  }
  const fields = text
    .slice(text.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
  return { parent: fields[1], own: user + system, ended: endedUser + endedSystem };
}

function findFile(folder: string, name: string): string {
  const found = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const path = found.find((one) => one.endsWith(`/${name}`));
  if (path === undefined) throw new Error(`expected ${name} in ${folder}`);
  return join(folder, path);
}
