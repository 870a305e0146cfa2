/** `/webhooks`, over HTTP. */
import { createSluiceClient, verifyWebhook } from "@sluice/sdk";
import { OPERATIONS } from "@sluice/sdk/wire";
import { Value } from "typebox/value";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningApi, startApi } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant, insertEvent, type Tenant } from "../../test/support/tenants.ts";
import { createTestDispatcher, LOCAL_RULES, startReceiver } from "../../test/support/webhooks.ts";
import { systemRandom } from "../roles/system-ports.ts";

const URL_OF_SHOP = "https://shop.example/hooks";

let database: TestDatabase;
let api: RunningApi;
let alice: Tenant;
let bob: Tenant;
let wakes = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  const webhooks = { rules: LOCAL_RULES, endpointsMax: 3, wakeWebhooks: () => void (wakes += 1) };
  api = await startApi({ db: database.db, webhooks });
  alice = await createTenant(database.db);
  bob = await createTenant(database.db);
});
afterAll(async () => {
  await api.close();
  await database.drop();
});

/** Calls an operation and checks its answer against its schema. */
async function call(
  tenant: Tenant,
  id: string,
  args: {
    readonly path?: Record<string, string>;
    readonly body?: unknown;
    readonly query?: string;
  } = {},
) {
  const operation = OPERATIONS.find((one) => one.id === id);
  if (!operation) throw new Error(`there is no operation ${id}`);
  const path = operation.path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => args.path?.[name] ?? "",
  );
  const response = await fetch(`${api.url}${path}${args.query ?? ""}`, {
    method: operation.method,
    headers: {
      "x-api-key": tenant.apiKey,
      ...(args.body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(args.body === undefined ? {} : { body: JSON.stringify(args.body) }),
  });
  const json = JSON.parse(await response.text());
  const faults = response.ok ? Value.Errors(operation.response, json) : [];
  expect([id, ...faults]).toEqual([id]);
  return { status: response.status, json };
}

const create = async (tenant: Tenant, body: object = {}) =>
  (await call(tenant, "createWebhook", { body: { url: URL_OF_SHOP, ...body } })).json;
/** Reads all items of pages. */
async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const remove = (tenant: Tenant, id: string) => call(tenant, "deleteWebhook", { path: { id } });

describe("endpoints", () => {
  test("are created with Ed25519 by default, listed, changed and deleted", async () => {
    const made = await create(alice);
    expect(made).toMatchObject({ url: URL_OF_SHOP, state: "enabled", secret: null, types: null });
    expect(made.secrets).toMatchObject([{ scheme: "v1a", expiresAt: null }]);
    expect(made.secrets[0].publicKey).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);
    const path = { id: made.id };
    const { secret: _, ...facts } = made;
    expect((await call(alice, "getWebhook", { path })).json).toEqual(facts);
    expect((await call(alice, "listWebhooks")).json).toEqual({ items: [facts], nextCursor: null });
    const body = { description: "orders", types: ["status_changed"], enabled: false };
    const changed = (await call(alice, "updateWebhook", { path, body })).json;
    expect(changed).toMatchObject({
      description: "orders",
      types: ["status_changed"],
      state: "disabled",
      disabledReason: "requested",
    });
    expect(await remove(alice, made.id)).toMatchObject({ status: 200, json: { deleted: made.id } });
    expect((await call(alice, "getWebhook", { path })).status).toBe(404);
  });

  test("show an HMAC secret once, and a new one at each rotation", async () => {
    const made = await create(alice, { scheme: "v1" });
    expect(made.secret).toMatch(/^whsec_/);
    const path = { id: made.id };
    const rotated = (await call(alice, "rotateWebhookSecret", { path, body: {} })).json;
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(made.secret);
    expect(rotated.secrets).toHaveLength(2);
    const overlapMs =
      Date.parse(rotated.secrets[1].expiresAt) - Date.parse(rotated.secrets[0].createdAt);
    expect(overlapMs).toBe(86_400_000);
    const shown = JSON.stringify([
      (await call(alice, "getWebhook", { path })).json,
      (await call(alice, "listWebhooks")).json,
    ]);
    expect(shown).not.toContain("whsec_");
    await remove(alice, made.id);
  });

  test("page with a cursor and end at the maximum of their integrator", async () => {
    const made = [await create(bob), await create(bob), await create(bob)];
    const refused = await call(bob, "createWebhook", { body: { url: URL_OF_SHOP } });
    expect(refused).toMatchObject({ status: 400, json: { error: { code: "VALIDATION_ERROR" } } });
    const first = (await call(bob, "listWebhooks", { query: "?limit=2" })).json;
    const cursor = encodeURIComponent(first.nextCursor);
    const second = (await call(bob, "listWebhooks", { query: `?limit=2&cursor=${cursor}` })).json;
    const ids = [...first.items, ...second.items].map(({ id }: { id: string }) => id);
    expect(ids.toSorted()).toEqual(made.map(({ id }) => id).toSorted());
    expect(second.nextCursor).toBeNull();
    for (const { id } of made) await remove(bob, id);
  });

  test("of another integrator are not found by any operation [T219]", async () => {
    const { id } = await create(alice);
    const path = { id, eventId: systemRandom.uuid() };
    for (const { id: name, body } of OPERATIONS.filter(({ path: at }) =>
      at.startsWith("/webhooks/"),
    )) {
      const sent = name === "resendWebhooks" ? { since: "2026-01-01" } : {};
      const answer = await call(bob, name, { path, ...(body && { body: sent }) });
      expect([name, answer.status]).toEqual([name, 404]);
    }
    expect((await call(bob, "listWebhooks")).json.items).toEqual([]);
    await remove(alice, id);
  });
});

describe("requests", () => {
  test.each([
    ["url", { url: "https://10.0.0.1/" }],
    ["url", { url: "http://shop.example/#x" }],
    ["url", {}],
    ["url", { url: 1 }],
    ["types.0", { url: URL_OF_SHOP, types: ["Not a type"] }],
    ["types", { url: URL_OF_SHOP, types: [] }],
    ["types", { url: URL_OF_SHOP, types: ["status_chnged"], extended: true }],
    ["types", { url: URL_OF_SHOP, types: ["status_changed", "refund_final"] }],
    ["scheme", { url: URL_OF_SHOP, scheme: "v2" }],
    ["sceme", { url: URL_OF_SHOP, sceme: "v1" }],
    ["description", { url: URL_OF_SHOP, description: "x".repeat(201) }],
    ["body", []],
  ])("with a wrong %s are refused by its name: %j", async (field, body) => {
    const { status, json } = await call(alice, "createWebhook", { body });
    expect([status, json.error.code, json.error.details.field]).toEqual([
      400,
      "VALIDATION_ERROR",
      field,
    ]);
    expect(json.error.message).toMatch(/: expected .+\.$/);
  });

  test("that leave an endpoint with types that it would never get are refused", async () => {
    const { id } = await create(alice, { types: ["refund_final"], extended: true });
    for (const body of [{ extended: false }, { types: ["refund_finl"] }]) {
      const { status, json } = await call(alice, "updateWebhook", { path: { id }, body });
      expect([status, json.error.details.field]).toEqual([400, "types"]);
    }
    const change = { types: ["status_changed"], extended: false };
    const { json } = await call(alice, "updateWebhook", { path: { id }, body: change });
    expect(json).toMatchObject(change);
    await remove(alice, id);
  });

  test("of unknown parameters, cursors and ranges are refused", async () => {
    const { id } = await create(alice);
    const path = { id };
    const refused = [
      await call(alice, "listWebhooks", { query: "?page=2" }),
      await call(alice, "listWebhooks", { query: "?cursor=x" }),
      await call(alice, "listWebhookDeliveries", { path, query: "?state=sent" }),
      await call(alice, "resendWebhooks", { path, body: {} }),
      await call(alice, "resendWebhooks", { path, body: { until: "2026-01-01" } }),
      await call(alice, "resendWebhooks", { path, body: { since: "2026-13-01" } }),
      await call(alice, "rotateWebhookSecret", { path, body: { overlapSeconds: -1 } }),
    ];
    expect(refused.map(({ json }) => json.error.details.field)).toEqual([
      "page",
      "cursor",
      "state",
      "eventId",
      "eventId",
      "since",
      "overlapSeconds",
    ]);
    await remove(alice, id);
  });
});

test("a test and an event are sent, logged, and sent again on request", async () => {
  const receiver = await startReceiver();
  const sender = createTestDispatcher(database.db);
  const { id } = await create(alice, { url: receiver.url });
  const path = { id };
  const before = wakes;
  const tested = (await call(alice, "testWebhook", { path })).json;
  expect(tested).toMatchObject({
    test: true,
    state: "pending",
    type: "endpoint.test",
    attempts: [],
  });
  await insertEvent(database.db, alice);
  await sender.drain();
  const { items } = (await call(alice, "listWebhookDeliveries", { path })).json;
  expect(items.map(({ state, type }: { state: string; type: string }) => [type, state])).toEqual([
    ["deposit_detected", "delivered"],
    ["endpoint.test", "delivered"],
  ]);
  const { eventId } = items[0];
  expect((await call(alice, "resendWebhooks", { path, body: { eventId } })).json).toEqual({
    queued: 1,
    nextCursor: null,
  });
  await sender.drain();
  const one = (await call(alice, "getWebhookDelivery", { path: { id, eventId } })).json;
  expect(
    one.attempts.map(({ attempt, status }: { attempt: number; status: number }) => [
      attempt,
      status,
    ]),
  ).toEqual([
    [2, 204],
    [1, 204],
  ]);
  expect(receiver.arrived.filter((arrived) => arrived.id === eventId)).toHaveLength(2);
  const filtered = await call(alice, "listWebhookDeliveries", { path, query: "?state=failed" });
  expect(filtered.json.items).toEqual([]);
  expect(wakes - before).toBe(2);
  sender.close();
  receiver.close();
});

test("the client of the SDK manages endpoints, and verifies the webhooks that they get", async () => {
  const { url, arrived, close } = await startReceiver();
  const sender = createTestDispatcher(database.db);
  const carol = await createTenant(database.db);
  const client = createSluiceClient({ baseUrl: api.url, quoteUrl: api.url, apiKey: carol.apiKey });
  const { id, secrets } = await client.createWebhook({ url: `${url}/old` });
  expect(await client.listWebhooks({ limit: 1 })).toMatchObject({
    items: [{ id }],
    nextCursor: null,
  });
  const changed = await client.updateWebhook(id, { url: `${url}/hooks`, description: "orders" });
  expect(changed).toEqual(await client.getWebhook(id));
  expect(await collect(client.iterateWebhooks())).toEqual([changed]);

  await insertEvent(database.db, carol);
  const { eventId: testId } = await client.testWebhook(id);
  await sender.drain();
  const verifyLast = (keys: readonly string[]) =>
    verifyWebhook({
      headers: arrived.at(-1)?.headers ?? {},
      body: arrived.at(-1)?.body ?? "",
      keys,
    });
  const first = secrets.map(({ publicKey }) => publicKey ?? "");
  const [event] = (await client.listEvents()).items;
  const byId = new Map(arrived.map((one) => [one.id, one]));
  expect([...byId.keys()].sort()).toEqual([event?.id ?? "", testId].sort());
  const { headers = {}, body = "" } = byId.get(event?.id ?? "") ?? {};
  expect((await verifyWebhook({ headers, body, keys: first })).event).toEqual(event);
  expect(await client.getWebhookDelivery(id, testId)).toMatchObject({
    test: true,
    state: "delivered",
  });

  const rotated = await client.rotateWebhookSecret(id, { scheme: "v1", overlapSeconds: 60 });
  expect(await client.resendWebhooks(id, { eventId: event?.id ?? "" })).toEqual({
    queued: 1,
    nextCursor: null,
  });
  await sender.drain();
  for (const keys of [first, [rotated.secret ?? ""]]) {
    expect((await verifyLast(keys)).event).toEqual(event);
  }
  const since = "2020-01-01T00:00:00.000Z";
  expect(await client.resendWebhooks(id, { since })).toEqual({ queued: 1, nextCursor: null });
  await sender.drain();
  const deliveries = await collect(client.iterateWebhookDeliveries(id, { limit: 1 }));
  expect(deliveries.map(({ attemptCount }) => attemptCount).sort()).toEqual([1, 3]);
  expect(await client.listWebhookDeliveries(id, { state: "failed" })).toEqual({
    items: [],
    nextCursor: null,
  });
  expect(await client.deleteWebhook(id)).toEqual({ deleted: id });
  await expect(client.getWebhook(id)).rejects.toMatchObject({ code: "NOT_FOUND" });
  sender.close();
  close();
});
