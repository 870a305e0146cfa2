/** The exchange of the tutorial survives every scenario of the sandbox: each customer has exactly what was delivered. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import {
  balanceOf,
  removeSandbox,
  type Sandbox,
  SCENARIO_NAMES,
  type ScenarioName,
  startSandbox,
} from "@sluice/sandbox";
import { getAddress } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Exchange, openExchange } from "./exchange.ts";
import { readSandbox } from "./sandbox.ts";

const ROOT = join(import.meta.dirname, "../..");
const PATIENCE = { timeout: 120_000, interval: 500 };

const UNIT = 1_000_000n;
const afterFee = (amount: bigint) => amount - amount / 1_000n;

const NOTHING = [0n, 0n] as const;
/** Delivered USDC, from and to: less CCTP's fee where the fault makes `SWIFT` unavailable on a slow machine. */
const delivered = (amount: bigint) =>
  [afterFee(amount) - amount / 5_000n, afterFee(amount)] as const;
/** Deliveries in base units of USDC, from and to: those of other tokens depend on a price. */
const DELIVERED: Readonly<Record<ScenarioName, readonly [bigint, bigint]>> = {
  "deposit-delivered": delivered(25n * UNIT),
  "deposit-reorged": NOTHING,
  "deposit-replaced": delivered(10n * UNIT),
  "deposit-delayed": delivered(25n * UNIT),
  dust: NOTHING,
  "below-minimum": delivered(1_100_000n),
  "fee-on-transfer": [99n * UNIT, (997n * UNIT) / 10n],
  "provider-outage": delivered(25n * UNIT),
  "attestation-late": [(299n * UNIT) / 10n, 30n * UNIT],
  "bridge-stuck": [(299n * UNIT) / 10n, 30n * UNIT],
  "route-paused": delivered(25n * UNIT),
  "settlement-dead": NOTHING,
  "deposit-refunded": NOTHING,
  "webhook-endpoint-down": delivered(25n * UNIT),
  "clock-jump": delivered(35n * UNIT),
};

let folder: string;
let sandbox: Sandbox;
let exchange: Exchange;
let atFirst: bigint;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-exchange-"));
  // The embedded PostgreSQL runs as `nobody` where the tests run as root.
  chmodSync(folder, 0o755);
  sandbox = await startSandbox({
    stateDir: join(folder, ".sluice"),
    mining: { intervalMs: 500 },
    ports: { ethereum: 0, base: 0, solana: 0, api: 0, quote: 0, telemetry: 0, control: 0 },
  });
  atFirst = await readWallet();
  exchange = await open(0);
  await exchange.registerWebhook();
});

afterAll(async () => {
  await exchange?.close();
  await sandbox?.stop();
  await removeSandbox(join(folder, ".sluice"));
  rmSync(folder, { recursive: true, force: true });
});

const open = (port: number) =>
  openExchange({ ...readSandbox(sandbox.descriptor), database: join(folder, "exchange.db"), port });

/** Returns the USDC of the exchange's wallet on base. */
function readWallet(): Promise<bigint> {
  const { destination } = readSandbox(sandbox.descriptor);
  const [owner, token] = [getAddress(destination.wallet), getAddress(destination.token)];
  return balanceOf(sandbox.chains.base.client, { owner, token });
}

async function ask(method: "GET" | "POST", path: string) {
  const response = await fetch(`${exchange.url}${path}`, { method });
  expect(response.status).toBe(200);
  return JSON.parse(await response.text());
}

/** Waits until webhooks alone have brought a customer's balance: nothing reconciles meanwhile. */
async function untilCredited(customer: number, balance: string): Promise<void> {
  const read = async () => (await ask("GET", `/customers/${customer}`)).balance;
  await expect.poll(read, PATIENCE).toBe(balance);
}

const CUSTOMERS = SCENARIO_NAMES.map((name, index) => ({
  name,
  customer: index + 1,
  /** Every third time the exchange is down, so that its webhooks fail. */
  isDown: index % 3 === 2,
}));

test.each(CUSTOMERS)(
  "a customer has exactly what was delivered after $name (exchange down: $isDown)",
  async ({ name, customer, isDown }) => {
    const { address } = await ask("POST", `/customers/${customer}/address`);
    expect((await ask("POST", `/customers/${customer}/address`)).address).toBe(address);
    const { port } = new URL(exchange.url);
    if (isDown) await exchange.close();
    const played = await sandbox
      .play(name, { depositAddress: address, timeoutMs: 400_000 })
      .finally(async () => {
        if (isDown) exchange = await open(Number(port));
      });
    const [least, most] = DELIVERED[name];
    expect(BigInt(played.delivered)).toBeGreaterThanOrEqual(least);
    expect(BigInt(played.delivered)).toBeLessThanOrEqual(most);
    if (!isDown) await untilCredited(customer, played.delivered);
    expect(await exchange.reconcile()).toEqual([]);
    expect(await ask("GET", `/customers/${customer}`)).toMatchObject({
      balance: played.delivered,
      refunded: name === "deposit-refunded" ? "25000000" : "0",
    });
  },
);

describe("after all scenarios", () => {
  test("the wallet holds the sum of all balances", async () => {
    const customers = await Promise.all(
      CUSTOMERS.map(({ customer }) => ask("GET", `/customers/${customer}`)),
    );
    const sum = customers.reduce<bigint>((total, { balance }) => total + BigInt(balance), 0n);
    expect(sum).toBeGreaterThan(0n);
    expect((await readWallet()) - atFirst).toBe(sum);
  });

  test("every event sent again changes nothing", async () => {
    const { baseUrl, apiKey } = readSandbox(sandbox.descriptor).service;
    const headers = { "x-api-key": apiKey, "content-type": "application/json" };
    const readJson = async (url: string) =>
      JSON.parse(await (await fetch(url, { headers })).text());
    const { items } = await readJson(`${baseUrl}/webhooks`);
    const before = await ask("GET", "/customers/1");
    const body = JSON.stringify({
      since: "2020-01-01T00:00:00.000Z",
      until: new Date(Date.now() + 3_600_000).toISOString(),
    });
    const path = `${baseUrl}/webhooks/${items[0].id}`;
    const sent = await fetch(`${path}/resend`, { method: "POST", headers, body });
    expect(sent.ok).toBe(true);
    const isPending = async () => {
      const log = await readJson(`${path}/deliveries?limit=100`);
      return log.items.some(({ state }: { state: string }) => state === "pending");
    };
    await expect.poll(isPending, PATIENCE).toBe(false);
    expect(await ask("GET", "/customers/1")).toEqual(before);
    expect(await exchange.reconcile()).toEqual([]);
  });

  test("a webhook that the service did not sign is refused", async () => {
    const response = await fetch(`${exchange.url}/hooks`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "webhook-id": "1",
        "webhook-timestamp": String(Math.floor(Date.now() / 1_000)),
        "webhook-signature": `v1a,${"A".repeat(86)}==`,
      },
      body: "{}",
    });
    expect(response.status).toBe(401);
  });

  test("the stream brings events without webhooks", async () => {
    const own = await openExchange({
      ...readSandbox(sandbox.descriptor),
      database: join(folder, "stream.db"),
      port: 0,
    });
    const errors: unknown[] = [];
    const end = own.followStream((error) => errors.push(error));
    const { address } = await own.issueAddress(1_000);
    const { delivered } = await sandbox.play("deposit-delivered", { depositAddress: address });
    await expect.poll(() => own.readCustomer(1_000).balance, PATIENCE).toBe(delivered);
    end();
    await own.close();
    expect(errors).toEqual([]);
  });
});

describe("the commands of the tutorial", () => {
  let server: ChildProcess | undefined;
  afterAll(() => server?.kill());

  test("run one after the other against a running sandbox", async () => {
    const page = readFileSync(join(ROOT, "docs/tutorial.md"), "utf8");
    const blocks = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
    // The first starts the sandbox, which runs; the second starts the exchange, at a free port here.
    const [start, serve, ...commands] = blocks;
    expect(start?.trim().split("\n").at(-1)).toBe("npm start");
    expect(serve?.trim()).toBe("npm run exchange");
    const cwd = join(folder, "tutorial");
    mkdirSync(cwd);
    symlinkSync(join(folder, ".sluice"), join(cwd, ".sluice"));
    const play = `${process.execPath} ${join(ROOT, "packages/sandbox/src/main.ts")} play`;
    writeFileSync(join(cwd, "package.json"), JSON.stringify({ scripts: { play } }));
    server = spawn(process.execPath, [join(ROOT, "examples/exchange/main.ts"), "0"], {
      cwd,
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (!server.stdout) throw new Error("the output is piped");
    let url = "";
    for await (const line of createInterface({ input: server.stdout })) {
      url = /^exchange on (\S+)$/.exec(line)?.[1] ?? "";
      if (url !== "") break;
    }
    expect(commands.length).toBeGreaterThan(2);
    const script = ["set -eo pipefail", ...commands].join("\n");
    const { stdout } = await promisify(execFile)(
      "bash",
      ["-c", script.replaceAll("http://127.0.0.1:4000", url)],
      { cwd },
    );
    expect(stdout).toContain("as documented; 24975000 base units of USDC were delivered");
    expect(stdout.trim().split("\n").at(-1)).toBe(
      '{"balance":"24975000","refunded":"0","detected":"50000000"}',
    );
  });
});
