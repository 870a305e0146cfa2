/**
 * Measures the time from the commit of an event to the arrival of its webhook, with a real process of the role `webhooks`,
 * real PostgreSQL and real sockets, all on this machine.
 *
 *     npm run bench -- webhooks [--endpoints 100] [--per-second 500] [--seconds 30]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Secret } from "../packages/service/src/core/secret.ts";
import { startEmbedded } from "../packages/service/src/db/embedded.ts";
import { migrateToLatest } from "../packages/service/src/db/migrate.ts";
import { openDatabase } from "../packages/service/src/db/pool.ts";
import { appendEvent } from "../packages/service/src/events/index.ts";
import { createIntegrator } from "../packages/service/src/integrators/index.ts";
import { createWakeups } from "../packages/service/src/jobs/wakeups.ts";
import { systemClock, systemRandom } from "../packages/service/src/roles/system-ports.ts";
import { createLog } from "../packages/service/src/telemetry/log.ts";
import { createAddressRules, createEndpoint } from "../packages/service/src/webhooks/index.ts";

const MAIN = join(import.meta.dirname, "../packages/service/src/main.ts");
const PEPPER = "a pepper for the benchmark";
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

  const deps = { db, clock: systemClock, random: systemRandom, pepper: new Secret(PEPPER) };
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

  writeFileSync(join(folder, "service.json"), JSON.stringify(configure()));
  const service = spawn(process.execPath, [MAIN, "serve", "--roles", "webhooks"], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      PEPPER,
      LANE: `0x${"a7".repeat(32)}`,
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

  const perEvent = Math.min(endpoints, ENDPOINTS_OF_INTEGRATOR);
  const events = Math.round((perSecond / perEvent) * seconds);
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

/** A configuration whose chains the role never asks. */
function configure(): object {
  const address = `0x${"1".repeat(40)}`;
  const lane = { env: "LANE" };
  return {
    stateDir: "state",
    apiKeyPepper: { env: "PEPPER" },
    feeBps: 10,
    webhooks: { allowedRanges: RANGES },
    attestor: { key: lane, rpcUrls: { 2: "http://127.0.0.1:1" } },
    chains: [
      {
        chainId: 2,
        evmChainId: 900_002,
        rpcUrl: "http://127.0.0.1:1",
        startBlock: 0,
        contracts: { factory: address, escrow: address, delivery: address },
        tokens: [],
        lanes: { deploy: lane, settle: lane, deliver: lane },
      },
    ],
    routes: [],
  };
}
