/**
 * A running service whose every secret is a canary, at the most talkative level, among nodes that repeat what they are
 * told, requests that carry keys wherever they may be, and a database that goes away: nothing of it is ever written.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { io } from "socket.io-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../test/support/database.ts";
import { createKey, createIntegrator } from "./integrators/index.ts";
import { openDatabase } from "./db/pool.ts";
import { Secret } from "./core/secret.ts";
import { systemRandom } from "./roles/system-ports.ts";

const MAIN = join(import.meta.dirname, "main.ts");
const REFUND = `0x${"7".repeat(40)}`;
const PEPPER = "canary-pepper-5d1c0a7e9b";
const KEYS = {
  ATTESTOR: `0x${"a7".repeat(32)}`,
  DEPLOY: `0x${"b3".repeat(32)}`,
  SETTLE: `0x${"c9".repeat(32)}`,
  DELIVER: `0x${"d5".repeat(32)}`,
};
const PASSPHRASE = "canary-passphrase-0cc31e";
const AWS_SECRET = "canary-aws-secret-91d7";
const AWS_TOKEN = "canary-aws-token-3be8";
const NODE_USER = "canary-user-e2b4";
const NODE_PASSWORD = "canary-password-8f31";
const NODE_KEY = "canary-node-key-77aa02";
const DATABASE_PASSWORD = "canary-database-4410";
const WRONG_KEY = "canaaaaa-0000-4000-8000-123456789abc";
const CONTROLS = '\u001b[31m\u009b31m\r\n{"level":60}\u2028';

let database: TestDatabase;
let folder: string;
let hostile: Server;
let service: ChildProcess;
let stdout = "";
let stderr = "";
let apiKey: string;
let ready: { readonly api: string; readonly quote: string; readonly telemetry: string };

beforeAll(async () => {
  database = await createTestDatabase();
  const deps = { db: database.db, random: systemRandom, pepper: new Secret(PEPPER) };
  const caps = { maxFeeBps: 50, maxSlippageBps: 100 };
  await createIntegrator(deps, { name: "shop", refundEvm: REFUND, ...caps });
  ({ apiKey } = await createKey(deps, { integrator: "shop", depositAddresses: true }));
  // Repeats whatever identifies the caller, in an error of its own.
  hostile = createServer((request, response) => {
    const message = `${request.url} ${request.headers.authorization} ${NODE_KEY}${CONTROLS}`;
    response.end(JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32000, message } }));
  });
  hostile.listen({ host: "127.0.0.1", port: 0 });
  await once(hostile, "listening");
  folder = mkdtempSync(join(tmpdir(), "sluice-canaries-"));
  writeFileSync(join(folder, "service.json"), JSON.stringify(configure()));
  service = spawn(process.execPath, [MAIN, "serve"], {
    cwd: folder,
    env: {
      ...KEYS,
      PEPPER,
      PASSPHRASE,
      AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE",
      AWS_SECRET_ACCESS_KEY: AWS_SECRET,
      AWS_SESSION_TOKEN: AWS_TOKEN,
      SLUICE_CONFIG: join(folder, "service.json"),
      SLUICE_LOG_LEVEL: "trace",
      DATABASE_URL: database.url.replace("sluice@", `sluice:${DATABASE_PASSWORD}@`),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  service.stderr?.on("data", (chunk: Buffer) => {
    stderr += chunk.toString("utf8");
  });
  if (!service.stdout) throw new Error("its output is piped");
  const lines = createInterface({ input: service.stdout });
  const [line] = await Promise.race([
    once(lines, "line"),
    once(service, "exit").then(() => [`{"ended": true}`]),
  ]);
  stdout += line;
  ready = JSON.parse(String(line));
  if (!Reflect.get(ready, "ready")) throw new Error(`it did not start: ${stderr}`);
});
afterAll(async () => {
  if (service.exitCode === null) {
    service.kill("SIGKILL");
    await once(service, "exit");
  }
  hostile.close();
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

function configure(): object {
  const address = `0x${"1".repeat(40)}`;
  const { port } = hostile.address() as { port: number };
  const chain = (chainId: number, at: string) => ({
    chainId,
    evmChainId: 900_000 + chainId,
    rpcUrl: `http://${NODE_USER}:${NODE_PASSWORD}@${at}/v2/${NODE_KEY}?token=${NODE_KEY}`,
    startBlock: 0,
    pollIntervalMs: 50,
    contracts: { factory: address, escrow: address, delivery: address },
    tokens: [{ symbol: "USDC", address: REFUND, decimals: 6 }],
    lanes: { deploy: { env: "DEPLOY" }, settle: { env: "SETTLE" }, deliver: { env: "DELIVER" } },
  });
  const chains = [chain(30, `127.0.0.1:${port}`), chain(2, "127.0.0.1:1")];
  return {
    stateDir: "state",
    api: { port: 0 },
    quote: { port: 0 },
    telemetry: { port: 0 },
    apiKeyPepper: { env: "PEPPER" },
    keystorePassphrase: { env: "PASSPHRASE" },
    feeBps: 10,
    attestor: {
      key: { env: "ATTESTOR" },
      rpcUrls: Object.fromEntries(chains.map(({ chainId, rpcUrl }) => [chainId, rpcUrl])),
    },
    chains,
    routes: [],
  };
}

/** Everything that a client may do with a key, right or wrong. */
async function ask(key: string): Promise<void> {
  const headers = { "x-api-key": key, "content-type": "application/json" };
  for (const [url, init] of [
    [`${ready.api}/swaps?apiKey=${key}`, { headers }],
    [`${ready.api}/swaps/${encodeURIComponent(CONTROLS)}?key=${key}`, { headers }],
    [`${ready.api}/nothing/${key}`, { headers }],
    [`${ready.api}/request-index`, { method: "POST", headers, body: `{"chain": "${key}"` }],
    [`${ready.quote}/v3/quote?apiKey=${key}`, { method: "POST", headers, body: `{"x":"${key}"}` }],
    [`${ready.quote}/v3/quote?apiKey=${key}&apiKey=${key}`, {}],
  ] as const) {
    await fetch(url, init).then((response) => response.arrayBuffer());
  }
  for (const options of [{ auth: { apiKey: key } }, { query: { apiKey: key } }]) {
    const socket = io(ready.api, { transports: ["websocket"], reconnection: false, ...options });
    await Promise.race([
      new Promise((resolve) => socket.once("connect", () => resolve(null))),
      new Promise((resolve) => socket.once("connect_error", resolve)),
    ]);
    socket.close();
  }
}

/** Bytes that no client library sends. */
async function sendRaw(text: string): Promise<void> {
  const { hostname, port } = new URL(ready.api);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  socket.end(Buffer.from(text, "latin1"));
  socket.resume();
  await Promise.race([once(socket, "close"), delay(2_000)]);
}

/** Ends all connections of the service but the one that holds its roles, without which it would end as well. */
async function takeDatabaseAway(): Promise<void> {
  const { address } = database;
  if (!("database" in address)) throw new Error("a test's database is on a socket");
  const admin = await openDatabase({ ...address, database: "postgres" }, { max: 1 });
  await admin.pool.query(`alter database ${address.database} with allow_connections false`);
  await admin.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid not in
      (select pid from pg_locks where locktype = 'advisory' and classid = 9)`,
    [address.database],
  );
  await admin.close();
}

test("T89 T101 T102 T115 no secret is written at any level, and every line is JSON without controls", async () => {
  await ask(apiKey);
  await ask(WRONG_KEY);
  const raw = `x-api-key: ${apiKey}\r\nhost: x\u009b31m\r\n\r\n`;
  await sendRaw(`GET /swaps/\u009b31m\u0085?apiKey=${apiKey} HTTP/1.1\r\n${raw}`);
  // The database goes away under everything: connections end, and no new one is let in.
  await takeDatabaseAway();
  await ask(apiKey);
  await sendRaw(`GET /swaps/\u009b31m\u0085?apiKey=${apiKey} HTTP/1.1\r\n${raw}`);
  await expect
    .poll(() => stderr.includes("request failed") && stderr.includes("poll failed"))
    .toBe(true);
  const shown = await Promise.all(
    ["metrics", "health/ready", "health/live"].map(async (path) =>
      (await fetch(`${ready.telemetry}/${path}`)).text(),
    ),
  );
  service.kill("SIGTERM");
  await once(service, "exit");

  const lines = stderr.split("\n");
  expect(lines.pop()).toBe("");
  expect(lines.length).toBeGreaterThan(20);
  for (const line of lines) {
    expect(line).not.toMatch(/\p{Cc}|\p{Zl}|\p{Zp}/u);
    expect(JSON.parse(line)).toMatchObject({ role: "all", msg: expect.any(String) });
  }
  // The nodes were asked, and what they repeated was noticed.
  expect(stderr).toContain("RPC_UNAVAILABLE");
  expect(stderr).toContain("[redacted]");

  const basic = Buffer.from(`${NODE_USER}:${NODE_PASSWORD}`).toString("base64");
  const held = { PASSPHRASE, AWS_SECRET, AWS_TOKEN, PEPPER, ...KEYS };
  const secrets = { ...held, basic, apiKey, WRONG_KEY, NODE_USER, NODE_PASSWORD, NODE_KEY };
  const written = stderr + stdout + shown.join("");
  const leaks = Object.entries({ ...secrets, DATABASE_PASSWORD }).flatMap(([what, secret]) =>
    [secret, secret.replace(/^0x/, ""), encodeURIComponent(secret)].flatMap((form) => {
      const at = written.toLowerCase().indexOf(form.toLowerCase());
      return at === -1 ? [] : [`${what} after ${written.slice(Math.max(0, at - 300), at)}`];
    }),
  );
  expect(leaks).toEqual([]);
});
