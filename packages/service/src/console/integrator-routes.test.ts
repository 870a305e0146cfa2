/** Keys and webhooks of integrators in the console: each change is on record, with its reason. */
import type {
  ConsoleIntegratorFile,
  ConsoleKey,
  ConsoleLog,
  ConsoleTable,
  ConsoleWebhooks,
} from "@sluice/sdk/wire";
import { describe, expect, test } from "vitest";
import { openConsole } from "../../test/support/console-desk.ts";
import { listIntegrators } from "../integrators/index.ts";
import { createAddressRules, createEndpoint } from "../webhooks/index.ts";

const REASON = { reason: "ticket 7" };

async function openWithEndpoint() {
  const opened = await openConsole();
  const { db, desk, people, fail } = opened;
  const { id: settlementId } = await fail();
  const [integrator] = await listIntegrators(db);
  const { name = "", integratorId = "" } = integrator ?? {};
  const deps = {
    ...people,
    clock: desk.deps.clock,
    rules: createAddressRules(["127.0.0.0/8"]),
    endpointsMax: 10,
  };
  const endpoint = await createEndpoint(deps, {
    integratorId,
    url: "https://127.0.0.1:9/events",
    description: null,
    types: null,
    extended: false,
    ordered: false,
    scheme: "v1a",
  });
  const readActions = async (browser: Awaited<ReturnType<typeof opened.join>>) => {
    const { lines } = await browser.get<ConsoleLog>("/api/log");
    return lines
      .filter(({ action }) => action.startsWith("integrator"))
      .toReversed()
      .map(({ operator, action, reason }) => [operator, action, reason]);
  };
  return { ...opened, name, settlementId, endpoint, readActions };
}

describe("keys", () => {
  test("an admin creates, rotates and revokes them, and nobody below [T289]", async () => {
    const { join, name, readActions } = await openWithEndpoint();
    const operator = await join("Otto", "operator");
    const admin = await join("Ada", "admin");
    const create = { label: "backend", scopes: ["read"], days: 90, ...REASON };
    const url = `/api/integrators/${name}/keys`;
    expect((await operator.post(url, create)).statusCode).toBe(403);
    expect((await admin.post(url, { ...create, reason: " " })).statusCode).toBe(400);

    const first: ConsoleKey = (await admin.post(url, create)).json();
    expect(first.apiKey).toMatch(/^sk_(live|test)_[0-9a-f]{32}$/);
    const rotate = { overlapHours: 24, ...REASON };
    const second: ConsoleKey = (await admin.post(`/api/keys/${first.keyId}/rotate`, rotate)).json();
    expect((await admin.post(`/api/keys/${first.keyId}/rotate`, rotate)).statusCode).toBe(400);
    expect((await admin.post(`/api/keys/${second.keyId}/revoke`, REASON)).statusCode).toBe(200);
    expect((await admin.post(`/api/keys/${second.keyId}/revoke`, REASON)).statusCode).toBe(400);

    const { keys } = await admin.get<ConsoleIntegratorFile>(`/api/integrators/${name}`);
    const stateOf = (id: string) => keys.find((key) => key.id === id);
    expect(stateOf(first.keyId)).toMatchObject({
      label: "backend",
      state: "valid",
      scopes: ["read"],
      expiresAt: expect.any(String),
    });
    expect(stateOf(second.keyId)).toMatchObject({ label: "backend", state: "revoked" });
    // Refused changes are not on record.
    expect(await readActions(admin)).toEqual([
      ["console: Ada", "integrator create key", "ticket 7"],
      ["console: Ada", "integrator rotate key", "ticket 7"],
      ["console: Ada", "integrator revoke key", "ticket 7"],
    ]);
  });
});

describe("lists", () => {
  test("addresses, deposits and refunds are read a page at a time", async () => {
    const { join, name, desk } = await openWithEndpoint();
    for (let user = 1; user <= 51; user++) await desk.issue(`0x${user.toString(16)}f`);
    const viewer = await join("Vera", "viewer");
    const url = `/api/integrators/${name}/lists`;
    const read = (list: string) => viewer.get<ConsoleTable>(`${url}/${list}`);
    const first = await read("addresses");
    expect(first.rows).toHaveLength(50);
    expect(first.columns).toHaveLength(first.rows[0]?.length ?? 0);
    const second = await read(`addresses?cursor=${first.nextCursor}`);
    expect([second.rows.length, second.nextCursor]).toEqual([2, null]);
    const users = [...first.rows, ...second.rows].map(([, wallet]) => wallet);
    expect(new Set(users).size).toBe(52);

    const deposits = await read("deposits");
    expect(deposits.rows.map((row) => [...row.slice(1, 3), ...row.slice(-2)])).toEqual([
      ["0.001 USDC", "ethereum", "confirming", "held"],
    ]);
    expect(deposits.columns).toHaveLength(deposits.rows[0]?.length ?? 0);
    expect((await read("refunds")).rows).toEqual([]);
    expect((await viewer.send("GET", `${url}/other`)).statusCode).toBe(404);
    expect((await viewer.send("GET", `${url}/deposits?cursor=1`)).statusCode).toBe(400);
  });
});

describe("webhooks", () => {
  test("an operator tests, disables and enables one, and sends its events again", async () => {
    const { join, name, endpoint, readActions } = await openWithEndpoint();
    const browser = await join("Otto", "operator");
    const url = `/api/integrators/${name}/endpoints/${endpoint.id}`;
    const list = () => browser.get<ConsoleWebhooks>(url);
    expect((await browser.post(`${url}/test`, REASON)).statusCode).toBe(200);
    expect((await list()).items.map(({ type }) => type)).toEqual(["endpoint.test"]);

    const range = { since: "2000-01-01T00:00:00.000Z", ...REASON };
    expect((await browser.post(`${url}/enabled`, { enabled: false, ...REASON })).statusCode).toBe(
      200,
    );
    expect((await browser.post(`${url}/resend`, range)).statusCode).toBe(400);
    await browser.post(`${url}/enabled`, { enabled: true, ...REASON });
    const { queued } = (await browser.post(`${url}/resend`, range)).json();
    const { items } = await list();
    const events = items.filter(({ type }) => type !== "endpoint.test");
    expect(events.length).toBeGreaterThan(0);
    expect(queued).toBe(events.length);
    const [{ eventId = "" } = {}] = events;
    const one = await browser.post(`${url}/resend`, { event: eventId, ...REASON });
    expect(one.json()).toEqual({ queued: 1, nextCursor: null });
    for (const wrong of [{}, { event: eventId, since: range.since }, { until: range.since }]) {
      const refused = await browser.post(`${url}/resend`, { ...wrong, ...REASON });
      expect(refused.json().error.message).toContain("since with or without until");
    }
    expect(await readActions(browser)).toEqual(
      ["test", "disable", "enable", "resend", "resend"].map((verb) => [
        "console: Otto",
        `integrator ${verb} webhook`,
        "ticket 7",
      ]),
    );
  });
});
