/** Limits and metrics of configured nodes, over real HTTP and a real database. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRpc, type Rpc } from "../chains/rpc/rpc.ts";
import type { NodeConfig } from "../config/index.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createNodeConfig } from "../../test/support/nodes.ts";
import { type Answer, echo, type HttpNode, startHttpNode } from "../../test/rpc/http-node.ts";
import { createTrafficOf, type NodePlace } from "./node-traffic.ts";
import { systemClock, systemRandom } from "./system-ports.ts";

const SERVICE: NodePlace = { chainId: 2, view: "service", position: 1 };

let database: TestDatabase;
let node: HttpNode;

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await node.stop();
  await database.drop();
});

async function startNode(answer: Answer = echo): Promise<void> {
  node = await startHttpNode(answer);
}

/** The clients of a process that has just started. */
function startProcess() {
  const metrics = createMetrics();
  const ports = { clock: systemClock, random: systemRandom };
  const trafficOf = createTrafficOf({ ...ports, counted: { db: database.db, metrics } });
  const open = (given: Partial<NodeConfig> = {}, place = SERVICE): Rpc => {
    const rpcUrl = `${node.url}canary-key`;
    const traffic = trafficOf(place, { ...createNodeConfig(rpcUrl), ...given });
    return createRpc({ chainId: place.chainId, rpcUrl, timeoutMs: 5_000, traffic });
  };
  return { open, read: () => metrics.registry.metrics() };
}

test("counts requests, outcomes, time and bytes by position, and never shows the URL", async () => {
  await startNode((received) =>
    received.requests[0]?.method === "eth_call" ? { status: 502, body: "<html>" } : echo(received),
  );
  const { open, read } = startProcess();
  const rpc = open();
  await rpc.call("eth_chainId", []);
  await rpc.call("eth_call", []).catch(() => undefined);
  await rpc.batch([
    { method: "eth_getLogs", params: [] },
    { method: "eth_chainId", params: [] },
  ]);
  await open({}, { chainId: 30, view: "attestor", position: 0 }).call("eth_chainId", []);

  const text = await read();
  const ours = 'chain="ethereum",node="1"';
  const lines = text.split("\n");
  expect(lines).toEqual(
    expect.arrayContaining([
      `sluice_rpc_requests_total{${ours},method="eth_chainId",outcome="ok"} 2`,
      // Once, and again after each of three pauses.
      `sluice_rpc_requests_total{${ours},method="eth_call",outcome="http_error"} 4`,
      `sluice_rpc_requests_total{${ours},method="eth_getLogs",outcome="ok"} 1`,
      'sluice_rpc_requests_total{chain="base",node="attestor-0",method="eth_chainId",outcome="ok"} 1',
      `sluice_rpc_request_duration_seconds_count{${ours},method="batch"} 1`,
      `sluice_rpc_request_duration_seconds_count{${ours},method="eth_chainId"} 1`,
    ]),
  );
  expect(text).toMatch(/sluice_rpc_bytes_total\{[^}]*direction="received"\} [1-9]/);
  expect(text).not.toContain("canary");
  expect(text).not.toContain(new URL(node.url).port);
});

test("shares the limits of a node among its clients in the process", async () => {
  await startNode();
  const { open } = startProcess();
  const [one, other] = [open({ requestsPerSecond: 2 }), open({ requestsPerSecond: 2 })];
  const startMs = Date.now();
  await Promise.all([one, other, one, other].map((rpc) => rpc.call("m", [])));
  expect(Date.now() - startMs).toBeGreaterThanOrEqual(1_000);
});

test("never exceeds the budget of a day, over restarts and together with other processes", async () => {
  await startNode();
  const budget = { requestsPerDay: 250 };
  const send = async (rpc: Rpc, times: number) => {
    for (let index = 0; index < times; index++) await rpc.call("m", []).catch(() => undefined);
  };
  for (let start = 0; start < 5; start++) {
    const { open } = startProcess();
    await send(open(budget), 20);
  }
  const last = startProcess();
  await Promise.all([send(startProcess().open(budget), 150), send(last.open(budget), 150)]);
  expect(node.received.length).toBeLessThanOrEqual(250);
  // Each restart loses at most a hundredth of the day.
  expect(node.received.length).toBeGreaterThan(235);
  await expect(last.open(budget).call("m", [])).rejects.toMatchObject({
    code: "RPC_UNAVAILABLE",
    details: { chainId: 2, reason: "daily budget used up" },
  });
  const text = await last.read();
  expect(text).toContain('sluice_rpc_day_budget_used_ratio{chain="ethereum",node="1"} 1');
  expect(text).toContain('method="m",outcome="withheld"}');
});
