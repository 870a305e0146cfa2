/** One key's calls that need a node leave other keys and the scanner as they were, over HTTP and a node's limits [T204]. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startApi } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createNodeConfig } from "../../test/support/nodes.ts";
import { createTenant, insertAddress, type Tenant } from "../../test/support/tenants.ts";
import { echo, startHttpNode } from "../../test/rpc/http-node.ts";
import { createRpc } from "../chains/rpc/rpc.ts";
import { comeFirst } from "../chains/rpc/traffic.ts";
import { createNodeMeter } from "../roles/node-meter.ts";
import { createTrafficOf } from "../roles/node-traffic.ts";
import { systemClock, systemRandom } from "../roles/system-ports.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { createAtOnce } from "./at-once.ts";
import { createRateLimiter } from "./rate-limits.ts";
import { createSharedLimiter } from "./shared-limits.ts";

const BUDGET = 30;
const AT_ONCE = 4;
/** Requests to the node that one call causes. */
const PER_CALL = 3;
const many = 1_000_000;
const LIMITS = {
  perKey: many,
  perAddress: many,
  wrongKeyPerAddress: many,
  requestIndexPerKey: many,
  newAddressesPerKey: many,
  nodeRequestsPerKey: BUDGET,
};

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Starts a node of 50 requests per second, and the interface in front of it. */
async function open(limiter = createRateLimiter(LIMITS)) {
  const node = await startHttpNode(echo);
  const nodeMeter = createNodeMeter();
  const { onRequests } = nodeMeter;
  const counted = { db: database.db, metrics: createMetrics(), onRequests };
  const trafficOf = createTrafficOf({ clock: systemClock, random: systemRandom, counted });
  const traffic = trafficOf(
    { chainId: 2, view: "service", position: 0 },
    { ...createNodeConfig(node.url), requestsPerSecond: 50 },
  );
  const facts = { chainId: 2, rpcUrl: node.url, timeoutMs: 5_000 };
  const rpc = createRpc({ ...facts, traffic });
  const api = await startApi({
    db: database.db,
    scanned: [{ chainId: 2, name: "ethereum", kind: "evm", tokens: [] }],
    limiter,
    nodeMeter,
    atOnce: createAtOnce({ perKey: AT_ONCE, waitMs: 1_000 }, systemClock),
    async requestIndex({ address }) {
      for (let n = 0; n < PER_CALL; n += 1) await rpc.call(address.integratorId, []);
      return { queued: false, reason: "below_min" };
    },
  });
  onTestFinished(async () => {
    await api.close();
    await node.stop();
  });
  const client = async (tenant: Tenant) => {
    const { wallet } = await insertAddress(database.db, tenant);
    const body = JSON.stringify({ walletAddress: wallet, tokenAddress: "native", chain: 2 });
    const headers = { "x-api-key": tenant.apiKey, "content-type": "application/json" };
    return () => fetch(`${api.url}/request-index`, { method: "POST", headers, body });
  };
  const countOf = (method: string) =>
    node.received.flatMap(({ requests }) => requests).filter((one) => one.method === method).length;
  const scanner = createRpc({ ...facts, traffic: comeFirst(traffic) });
  return { client, countOf, scan: () => scanner.call("scan", []) };
}

test("a key that floods the node is refused, and others and the scanner are served", async () => {
  const { client, countOf, scan } = await open();
  const [alice, bob] = [await createTenant(database.db), await createTenant(database.db)];
  const [flood, honest] = [await client(alice), await client(bob)];
  let isOver = false;
  const statuses = new Map<number, number>();
  const flooding = Array.from({ length: 16 }, async () => {
    while (!isOver) {
      const answer = await flood();
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      await answer.arrayBuffer();
      // The flood is of the node; one of refusals would slow the test's own process.
      await sleep(20);
    }
  });
  for (let n = 0; n < 8; n += 1) {
    expect((await honest()).status).toBe(200);
    await scan();
    await sleep(50);
  }
  const refused = await flood();
  isOver = true;
  await Promise.all(flooding);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({
    error: { code: "RPC_UNAVAILABLE", retryable: true, details: { reason: "rate_limited" } },
  });
  expect(statuses.get(429)).toBeGreaterThan(0);
  expect(countOf(alice.id)).toBeGreaterThanOrEqual(BUDGET);
  expect(countOf(alice.id)).toBeLessThanOrEqual(BUDGET + AT_ONCE * PER_CALL);
  expect(countOf(bob.id)).toBe(8 * PER_CALL);
  expect(countOf("scan")).toBe(8);
});

test("processes count a key's requests to nodes together", async () => {
  const share = () => createSharedLimiter(LIMITS, { db: database.db, clock: systemClock });
  const [one, other] = [await open(share()), await open(share())];
  const carol = await createTenant(database.db);
  const [askOne, askOther] = [await one.client(carol), await other.client(carol)];
  for (let n = 0; n < BUDGET / PER_CALL; n += 1) {
    expect((await (n % 2 === 0 ? askOne : askOther)()).status).toBe(200);
  }
  expect((await askOne()).status).toBe(429);
  expect((await askOther()).status).toBe(429);
  expect(one.countOf(carol.id) + other.countOf(carol.id)).toBe(BUDGET);
});
