/** Nodes that announce new blocks over WebSocket: notices wake the scanner, and polling continues without them. */
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Provider, startProvider } from "@sluice/sandbox/provider";
import { USDC } from "./support/deposits.ts";
import { openWorld, type World } from "./support/world.ts";

const AMOUNT = 9n * USDC;
/** Far below the poll interval of the first test. */
const SOON_MS = 10_000;

let world: World;
/** Serves the WebSocket only; requests go to the node itself. */
let provider: Provider;

beforeAll(async () => {
  world = await openWorld({
    pollIntervalMs: 60_000,
    telemetry: true,
    async nodesOf(chain, rpcUrl) {
      if (chain !== "ethereum") return [rpcUrl];
      provider = await startProvider({ upstream: rpcUrl });
      return [{ url: rpcUrl, wsUrl: `${provider.wsUrl}/v2/canary-of-a-socket` }];
    },
  });
});
afterAll(async () => {
  await world.close();
  await provider.close();
});

/** Pays to a new address, and returns the milliseconds until the deposit was on the stream. */
async function detect(): Promise<number> {
  const recipient = world.newRecipient();
  const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
  await world.pay("ethereum", address, AMOUNT);
  const paidMs = performance.now();
  await world.deposits(address, 1);
  return performance.now() - paidMs;
}

async function readMetric(name: string): Promise<number> {
  const text = await (await fetch(`${world.telemetryUrl()}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`sluice_${name}{chain="ethereum"`));
  return Number(line?.split(" ").at(-1));
}

const isConnected = async () => (await readMetric("rpc_push_connected")) === 1;

test("deposits are detected by push at once, with a poll interval of 60 s", async () => {
  await world.until("the socket is connected", isConnected);
  for (let payments = 0; payments < 3; payments++) expect(await detect()).toBeLessThan(SOON_MS);
  expect(await readMetric("rpc_push_notices_total")).toBeGreaterThanOrEqual(3);
});

test("deposits are detected by polling when the socket is silent, and when it is dead", async () => {
  const config = JSON.parse(readFileSync(world.configPath, "utf8"));
  for (const chain of config.chains) chain.pollIntervalMs = 1_000;
  writeFileSync(world.configPath, JSON.stringify(config));
  await world.restartService({});
  await world.until("the socket is connected", isConnected);
  expect(await detect()).toBeLessThan(SOON_MS);
  provider.set({ wsSilent: true });
  const noticed = await readMetric("rpc_push_notices_total");
  for (let payments = 0; payments < 2; payments++) expect(await detect()).toBeLessThan(SOON_MS);
  expect(await readMetric("rpc_push_notices_total")).toBe(noticed);
  expect(await isConnected()).toBe(true);
  await provider.close();
  await world.until("the socket is dead", async () => !(await isConnected()));
  for (let payments = 0; payments < 2; payments++) expect(await detect()).toBeLessThan(SOON_MS);
  const log = world.readLog();
  expect(log).toContain("push disconnected, polling");
  expect(log).not.toContain("canary-of-a-socket");
});
