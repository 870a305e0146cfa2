/**
 * Measures pages of the REST interface on a small and a large database, as requests per second with eight connections, beside
 * a bare server that answers with the same rows of one statement. Both run by turns, in processes of their own; the client
 * and the database share the machine with them.
 *
 *     npm run bench -- api [--rows 1000,1000000] [--rounds 5] [--seconds 2]
 */
import { randomUUID } from "node:crypto";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent, get } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { sql } from "kysely";
import { migrateToLatest } from "../packages/service/src/db/migrate.ts";
import { openDatabase } from "../packages/service/src/db/pool.ts";
import { insertHistory } from "../packages/service/test/support/million-rows.ts";
import {
  createTenant,
  insertEvent,
  insertStatusEvent,
  type Tenant,
} from "../packages/service/test/support/tenants.ts";
import { startThrowawayServer } from "../packages/service/test/support/throwaway-server.ts";
import { median } from "./median.ts";
import { readProcessorTimes } from "./processes.ts";

const SERVER = join(import.meta.dirname, "api-server.ts");
/** Of the embedded server. */
const USER = "sluice";
const CONNECTIONS = 8;
const CHAINS = { usual: 2, rare: 30 };
/** Rows of each address. */
const ROWS_PER_WALLET = 10;

const PAGES = [
  { name: "/swaps?limit=20", time: "cursor", table: "settlements" },
  { name: "/events?limit=200", time: "since", table: "events" },
  { name: "/deposit-addresses?limit=100", time: "cursor", table: "addresses" },
] as const;

export async function benchApi(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rows: { type: "string", default: "1000,1000000" },
      rounds: { type: "string", default: "5" },
      seconds: { type: "string", default: "2" },
    },
  });
  const postgres = await startThrowawayServer("sluice-bench");
  try {
    for (const rows of values.rows.split(",").map(Number)) {
      const database = `rows_${rows}`;
      const admin = await openDatabase(postgres.address, { max: 1 });
      await admin.pool.query(`create database ${database}`);
      await admin.close();
      const { socketDir } = postgres.address;
      const { db, close } = await openDatabase({ socketDir, user: USER, database }, { max: 4 });
      await migrateToLatest(db);
      const tenants = [await createTenant(db), await createTenant(db)];
      const [tenant] = tenants;
      if (!tenant) throw new Error("a tenant was created");
      await insertEvent(db, tenant);
      await insertStatusEvent(db, tenant, randomUUID());
      const wallets = rows / ROWS_PER_WALLET;
      await insertHistory(db, {
        tenants: tenants.map(({ id }) => id),
        chains: CHAINS,
        count: rows,
        wallets,
      });
      const paths: string[] = [];
      for (const { name, time, table } of PAGES) {
        const { rows: found } = await sql<{ at: string }>`
          select created_at as at from ${sql.table(table)} where integrator_id = ${tenant.id}
          order by created_at offset (select count(*) / 2 from ${sql.table(table)} where integrator_id = ${tenant.id}) limit 1`.execute(
          db,
        );
        paths.push(name, `${name}&${time}=${found[0]?.at}`);
      }
      await close();
      const url = `postgres://${USER}@${encodeURIComponent(socketDir)}/${database}`;
      console.log(`\n${rows} settlements, deposits and events, ${wallets} addresses`);
      console.table(
        await compare(url, {
          tenant,
          paths,
          rounds: Number(values.rounds),
          ms: Number(values.seconds) * 1000,
        }),
      );
    }
  } finally {
    await postgres.stop();
  }
}

/** Compares both servers over a database, path by path. */
async function compare(
  database: string,
  options: {
    readonly tenant: Tenant;
    readonly paths: readonly string[];
    readonly rounds: number;
    readonly ms: number;
  },
) {
  const { tenant, paths, rounds, ms } = options;
  const service = await startServer("service", database, tenant);
  const bare = await startServer("bare", database, tenant);
  try {
    const results = [];
    for (const path of paths) {
      const load = (server: { readonly url: string }, forMs: number) =>
        sendFor(`${server.url}${path}`, { apiKey: tenant.apiKey, ms: forMs });
      // Plans, compiled code and pages of the database.
      await load(service, ms / 2);
      await load(bare, ms / 2);
      const taken = [];
      for (let round = 0; round < rounds; round += 1) {
        taken.push({ service: await load(service, ms), bare: await load(bare, ms) });
      }
      const ratios = taken.map((one) => one.service.perSecond / one.bare.perSecond);
      results.push({
        path: path.replace(/&.*/, ", deep"),
        "service/s": Math.round(median(taken.map((one) => one.service.perSecond))),
        "bare/s": Math.round(median(taken.map((one) => one.bare.perSecond))),
        ratio: median(ratios).toFixed(2),
        "from-to": `${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)}`,
        "p50 ms": median(taken.map((one) => one.service.p50)).toFixed(1),
        "p99 ms": median(taken.map((one) => one.service.p99)).toFixed(1),
        // The database's part included. Less noisy than the rates where other machines share the processors.
        "processor ms": `${median(taken.map((one) => one.service.processorMs)).toFixed(2)} of ${median(taken.map((one) => one.bare.processorMs)).toFixed(2)}`,
        "ratio of it": median(
          taken.map((one) => one.bare.processorMs / one.service.processorMs),
        ).toFixed(2),
        kB: `${(taken[0]?.service.bytes ?? 0) / 1000} of ${(taken[0]?.bare.bytes ?? 0) / 1000}`,
      });
    }
    return results;
  } finally {
    service.child.kill();
    bare.child.kill();
  }
}

/** Starts a server in a process of its own. */
async function startServer(
  kind: string,
  database: string,
  { id }: Tenant,
): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const child = spawn(process.execPath, [SERVER, kind, database, id], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [url] = await once(createInterface({ input: child.stdout }), "line");
  return { url: String(url), child };
}

/** Requests a URL with every connection, one request after another, for a time. */
async function sendFor(
  url: string,
  { apiKey, ms }: { readonly apiKey: string; readonly ms: number },
) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const delays: number[] = [];
  let bytes = 0;
  const request = () => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    get(url, { agent, headers: { "x-api-key": apiKey } }, (response) => {
      let size = 0;
      response.on("data", (chunk: Buffer) => (size += chunk.length));
      response.on("end", () => {
        if (response.statusCode === 200) resolve(size);
        else reject(new Error(`${url} was answered with ${response.statusCode}`));
      });
    }).on("error", reject);
    return promise;
  };
  const startedAt = performance.now();
  const before = readServersS();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (performance.now() - startedAt < ms) {
        const sentAt = performance.now();
        bytes = await request();
        delays.push(performance.now() - sentAt);
      }
    }),
  );
  const perSecond = (delays.length * 1000) / (performance.now() - startedAt);
  const processorMs = ((readServersS() - before) * 1000) / delays.length;
  agent.destroy();
  const sorted = delays.toSorted((one, other) => one - other);
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
  return { perSecond, processorMs, p50: median(sorted), p99, bytes };
}

/** Returns the processor time in seconds of the servers and the database. */
function readServersS(): number {
  const times = readProcessorTimes();
  return (times.get("service") ?? 0) + (times.get("postgres") ?? 0);
}
