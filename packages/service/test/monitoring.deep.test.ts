/** Monitoring of a running service through a deposit: metrics and health on a port of their own. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { LANE_PURPOSES } from "../src/config/index.ts";
import { openWorld, type World } from "./support/world.ts";

const USDC = 1_000_000n;

let world: World;

beforeAll(async () => {
  world = await openWorld({ telemetry: true });
});
afterAll(async () => {
  await world.close();
});

/** Metric values by name and labels, as the page writes them. */
async function scrape(): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`${world.telemetryUrl()}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
  const lines = (await response.text()).split("\n").filter((line) => /^[a-z]/.test(line));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(" ");
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

async function readiness() {
  const response = await fetch(`${world.telemetryUrl()}/health/ready`);
  return { status: response.status, body: await response.json() };
}

test("metrics show a deposit from its arrival to its claim", async () => {
  const recipient = world.newRecipient();
  const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
  await world.until("the chains were read", async () =>
    [...(await scrape()).keys()].some((name) => name.startsWith("sluice_inventory_balance_")),
  );
  const before = await scrape();
  await world.pay("ethereum", address, 25n * USDC);
  await world.until("it is under way", async () =>
    [...(await scrape())].some(
      ([name, value]) => name.startsWith("sluice_settlements{") && value > 0,
    ),
  );
  await world.settled(address);
  const claims = 'sluice_attestation_requests_signed_total{kind="claim"}';
  await world.until("its lock is claimed", async () => {
    const now = await scrape();
    // Counts of rows are some seconds old: none may be from before the lock.
    const isSigned = (now.get(claims) ?? 0) > (before.get(claims) ?? 0);
    return isSigned && ![...now.keys()].some((name) => name.startsWith("sluice_deliveries{"));
  });
  await world.pay("ethereum", address, 1n);
  await world.deposits(address, 2);

  const seen = await scrape();
  const change = (name: string) => (seen.get(name) ?? 0) - (before.get(name) ?? 0);
  const changes = {
    'sluice_deposits_detected_total{chain="ethereum"}': 2,
    'sluice_deposits_detected_total{chain="base"}': 0,
    'sluice_deposits_ignored_total{chain="ethereum",reason="below_token_min"}': 1,
    'sluice_settlement_transitions_total{chain="ethereum",status="completed"}': 1,
    'sluice_settlement_transitions_total{chain="ethereum",status="dead"}': 0,
    'sluice_attestation_requests_signed_total{kind="delivery"}': 1,
    'sluice_attestation_requests_signed_total{kind="claim"}': 1,
    'sluice_attestation_requests_refused_total{kind="delivery"}': 0,
    'sluice_signer_refusals_total{chain="ethereum",purpose="settle"}': 0,
    'sluice_events_appended_total{type="deposit_detected"}': 2,
  };
  expect(Object.fromEntries(Object.keys(changes).map((name) => [name, change(name)]))).toEqual(
    changes,
  );
  expect(Object.fromEntries(seen)).toMatchObject({
    sluice_database_up: 1,
    'sluice_database_pool_waiting{pool="settler"}': 0,
    'sluice_database_pool_waiting{pool="api"}': 0,
    'sluice_inventory_reserved_base_units{chain="base",token="USDC"}': 0,
    sluice_stream_sockets: 3,
  });
  // Paid from inventory, whose balance was read again since.
  const inventory = 'sluice_inventory_balance_base_units{chain="base",token="USDC"}';
  await world.until(
    "the inventory is read again",
    async () => (await scrape()).get(inventory) !== before.get(inventory),
  );
  const paid = (before.get(inventory) ?? 0) - ((await scrape()).get(inventory) ?? 0);
  expect(BigInt(paid)).toBe(await world.balance("base", recipient));
  // One nonce of each lane that was used, all of them mined.
  const nonces = (of: ReadonlyMap<string, number>) =>
    [...of].filter(([name]) => name.startsWith('sluice_lane_next_nonce{chain="ethereum"'));
  const sum = (of: ReadonlyMap<string, number>) =>
    nonces(of).reduce((total, [, next]) => total + next, 0);
  expect(sum(seen)).toBeGreaterThan(sum(before));
  await world.until("the lanes are read again", async () => {
    const gaps = [...(await scrape())].filter(([name]) =>
      name.startsWith("sluice_lane_nonce_gap{"),
    );
    return gaps.length > 0 && gaps.every(([, gap]) => gap === 0);
  });
  const waiting = /^sluice_lane_(open_nonces|queued_transactions|stuck_attempts)\{/;
  const unmined = [...seen].filter(([name]) => waiting.test(name));
  // Of every lane of both chains.
  expect(unmined).toHaveLength(3 * 2 * LANE_PURPOSES.length);
  expect(unmined.filter(([, value]) => value > 0)).toEqual([]);
  for (const role of ["scanner", "settler", "attestor", "quoter", "api"]) {
    expect(seen.get(`sluice_role_running{role="${role}"}`)).toBe(1);
  }
  const events = await world.allEvents(0);
  expect(seen.get('sluice_events_appended_total{type="status_changed"}')).toBe(
    events.filter(({ type }) => type === "status_changed").length,
  );
  for (const chain of ["ethereum", "base"]) {
    expect(seen.get(`sluice_scanner_scanned_height{chain="${chain}"}`)).toBeGreaterThan(0);
    const lanes = [...seen].filter(([name]) =>
      name.startsWith(`sluice_lane_balance_wei{chain="${chain}"`),
    );
    expect(lanes).toHaveLength(LANE_PURPOSES.length);
    for (const [, balance] of lanes) expect(balance).toBeGreaterThan(0);
  }
  expect([...seen.keys()].some((name) => name.startsWith("process_cpu_seconds_total"))).toBe(true);
});

test("requests are counted by path template, without users, keys or full paths", async () => {
  const recipient = world.newRecipient();
  const { address } = await world.quote({ from: "ethereum", to: "base", recipient });
  const { baseUrl } = world.serviceUrls();
  const headers = { "x-api-key": world.apiKeyOf(0) };
  const id = crypto.randomUUID();
  expect(
    (await fetch(`${baseUrl}/swaps/${id}?apiKey=${world.apiKeyOf(0)}`, { headers })).status,
  ).toBe(400);
  expect((await fetch(`${baseUrl}/${id}/x`)).status).toBe(404);
  const seen = await scrape();
  const count = (service: string, method: string, route: string, status: number) =>
    seen.get(
      `sluice_http_requests_total{service="${service}",method="${method}",route="${route}",status="${status}"}`,
    );
  expect(count("api", "GET", "/swaps/:id", 400)).toBe(1);
  expect(count("api", "GET", "unknown", 404)).toBe(1);
  expect(count("quote", "POST", "/v3/quote", 200)).toBeGreaterThan(0);
  const text = [...seen.keys()].join("\n").toLowerCase();
  for (const secret of [address, recipient, id, world.apiKeyOf(0)]) {
    expect(text).not.toContain(secret.toLowerCase());
  }
  // Every label has few values, even after some hundred requests and two deposits.
  expect(seen.size).toBeLessThan(2_000);
});

test("health reports each role, and neither health nor metrics is on the interface's ports", async () => {
  const live = await fetch(`${world.telemetryUrl()}/health/live`);
  expect([live.status, await live.json()]).toEqual([200, { ok: true }]);
  const { status, body } = await readiness();
  expect(status).toBe(200);
  expect(body).toMatchObject({
    ok: true,
    roles: { scanner: { ok: true, reason: null }, settler: { ok: true }, api: { ok: true } },
    chains: { ethereum: { lagBlocks: expect.any(Number), lastBlockSeconds: expect.any(Number) } },
  });
  const { baseUrl, quoteUrl } = world.serviceUrls();
  for (const url of [baseUrl, quoteUrl]) {
    for (const path of ["/metrics", "/health/live", "/health/ready"]) {
      expect((await fetch(`${url}${path}`)).status).toBe(404);
    }
  }
  expect((await fetch(`${world.telemetryUrl()}/swaps`)).status).toBe(404);
});
