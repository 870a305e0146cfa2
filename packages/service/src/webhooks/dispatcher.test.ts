/** Deliveries from the event log to receivers on real sockets, over real PostgreSQL. */
import { sql } from "kysely";
import { ExtendedEventItem } from "@sluice/sdk/wire";
import { Webhook } from "standardwebhooks";
import { Value } from "typebox/value";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import {
  createTenant,
  insertEvent,
  insertStatusEvent,
  type Tenant,
} from "../../test/support/tenants.ts";
import {
  type Arrived,
  createAheadClock,
  createEndpointDeps,
  createTestDispatcher,
  insertEndpoint,
  startReceiver,
} from "../../test/support/webhooks.ts";
import { appendEvent, listEvents, listExtendedEvents } from "../events/index.ts";
import { systemRandom } from "../roles/system-ports.ts";
import { ATTEMPT_DELAYS_MS } from "./schedule.ts";
import {
  deleteEndpoint,
  getDelivery,
  getEndpoint,
  insertTest,
  listDeliveries,
  purgeDeliveries,
  resendEvent,
  resendRange,
  rotateSecret,
  updateEndpoint,
} from "./index.ts";

const HOUR_MS = 3_600_000;
const PAGE = { limit: 100, cursor: undefined, state: undefined };

let database: TestDatabase;
let tenant: Tenant;
let clock: ReturnType<typeof createAheadClock>;
let sender: ReturnType<typeof createTestDispatcher>;
const opened: { close(): void }[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  tenant = await createTenant(database.db);
  clock = createAheadClock();
  sender = createTestDispatcher(database.db, clock);
  opened.push(sender);
});
afterEach(async () => {
  for (const part of opened.splice(0)) part.close();
  await database.db.deleteFrom("webhook_endpoints").execute();
  await database.db.deleteFrom("webhook_deliveries").execute();
});

async function receive(answer?: Parameters<typeof startReceiver>[0]) {
  const receiver = await startReceiver(answer);
  opened.push(receiver);
  return receiver;
}

const refOf = ({ id }: { readonly id: string }) => ({ integratorId: tenant.id, id });
const replay = async () => (await listEvents(database.db, tenant.id, { limit: 500 })).items;
const deps = () => createEndpointDeps(database.db, clock);

async function insertEventOf(wallet: string, mark: number): Promise<void> {
  await database.db.transaction().execute((tx) =>
    appendEvent(tx, systemRandom, {
      integratorId: tenant.id,
      type: "deposit_detected",
      data: { walletAddress: wallet, chainId: mark, tokenAddress: "0x1", queued: true },
    }),
  );
}

describe("payloads", () => {
  test("are the events of the replay in one sequence, signed, with the event's id", async () => {
    const { url, arrived } = await receive();
    await insertEvent(database.db, tenant);
    const endpoint = await insertEndpoint(database.db, tenant, `${url}/hooks`, {}, clock);
    for (let n = 0; n < 3; n += 1) await insertEvent(database.db, tenant, n + 2);
    await insertStatusEvent(database.db, tenant, systemRandom.uuid());
    await sender.drain();

    // The event from before the endpoint is not among them.
    const events = (await replay()).slice(1);
    expect(arrived).toHaveLength(4);
    const byId = new Map(arrived.map((one) => [one.id, one]));
    for (const { id, ...event } of events) expect(byId.get(id)?.json).toEqual(event);
    const library = new Webhook(endpoint.secret ?? "");
    for (const one of arrived) expect(verifyBy(library, one)).toEqual(one.json);
    expect(arrived[0]?.headers).toMatchObject({
      "content-type": "application/json",
      "user-agent": "sluice-test",
    });
  });

  test("of a type that the endpoint does not want are not sent", async () => {
    const { url, arrived } = await receive();
    await insertEndpoint(database.db, tenant, url, { types: ["status_changed"] }, clock);
    await insertEvent(database.db, tenant);
    await insertStatusEvent(database.db, tenant, systemRandom.uuid());
    await sender.drain();
    expect(arrived.map(({ json }) => json.type)).toEqual(["status_changed"]);
  });

  test("go to every endpoint of their integrator, and to none of another one [T219]", async () => {
    const { url, arrived } = await receive();
    const other = await createTenant(database.db);
    await insertEndpoint(database.db, tenant, `${url}/a`, {}, clock);
    await insertEndpoint(database.db, tenant, `${url}/b`, {}, clock);
    await insertEndpoint(database.db, other, `${url}/other`, {}, clock);
    await insertEvent(database.db, tenant);
    await sender.drain();
    expect(arrived.map(({ path }) => path).sort()).toEqual(["/a", "/b"]);
    expect(new Set(arrived.map(({ id }) => id)).size).toBe(1);
  });

  test("are signed by both secrets during the overlap of a rotation, then by the new one", async () => {
    const { url, arrived } = await receive();
    const created = await insertEndpoint(database.db, tenant, url, {}, clock);
    const rotate = (overlapSeconds: number) =>
      rotateSecret(deps(), { ...refOf(created), scheme: undefined, overlapSeconds });
    const rotated = await rotate(3_600);
    const [first, second] = [created, rotated].map(({ secret }) => new Webhook(secret ?? ""));
    const sendOne = async () => {
      await insertEvent(database.db, tenant);
      await sender.drain();
      const last = arrived.at(-1);
      return [first, second].map((library) => library && last && isValid(library, last));
    };
    expect(await sendOne()).toEqual([true, true]);
    expect(rotated.secrets).toHaveLength(2);
    clock.advance(2 * HOUR_MS);
    // The library refuses times ahead of its own clock, so the signature is compared by itself.
    expect(await sendOne()).toEqual([false, true]);
    const third = await rotate(0);
    expect(await sendOne()).toEqual([false, false]);
    expect(third.secret).not.toBe(rotated.secret);
  });
});

function verifyBy(library: Webhook, { body, headers }: Arrived): unknown {
  // CAST: the headers of a webhook are given once each.
  return library.verify(body, headers as Record<string, string>);
}

/** Compares signatures by themselves, at whatever time the webhook was sent. */
function isValid(library: Webhook, { id, body, headers }: Arrived): boolean {
  const at = new Date(Number(headers["webhook-timestamp"]) * 1_000);
  const signatures = String(headers["webhook-signature"]).split(" ");
  return signatures.includes(library.sign(id, at, body));
}

describe("retries", () => {
  test("follow the schedule to its end, and every attempt is on record", async () => {
    const { url, arrived } = await receive(
      (_, response) => void response.writeHead(500).end("why"),
    );
    const endpoint = await insertEndpoint(database.db, tenant, url, {}, clock);
    await insertEvent(database.db, tenant);
    for (const delay of ATTEMPT_DELAYS_MS) {
      clock.advance(delay * 1.1 + 1_000);
      await sender.drain();
    }
    expect(arrived).toHaveLength(10);
    expect(new Set(arrived.map(({ id }) => id)).size).toBe(1);
    clock.advance(48 * HOUR_MS);
    await sender.drain();
    expect(arrived).toHaveLength(10);
    const { items } = await listDeliveries(database.db, refOf(endpoint), PAGE);
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ state: "failed", attemptCount: 10, nextAttemptAt: null });
    expect(items[0]?.attempts.map(({ attempt }) => attempt)).toEqual([
      10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
    ]);
    expect(items[0]?.attempts[0]).toMatchObject({ status: 500, error: "not_accepted" });
    expect(JSON.stringify(items)).not.toContain("why");
  });

  test("end with the first success, which ends the endpoint's failures", async () => {
    let isUp = false;
    const { url, arrived } = await receive(
      (_, response) => void response.writeHead(isUp ? 200 : 503).end(),
    );
    const endpoint = await insertEndpoint(database.db, tenant, url, {}, clock);
    await insertEvent(database.db, tenant);
    await sender.drain();
    expect((await getEndpoint(database.db, refOf(endpoint))).failingSince).not.toBeNull();
    isUp = true;
    clock.advance(10_000);
    await sender.drain();
    expect(arrived).toHaveLength(2);
    expect((await getEndpoint(database.db, refOf(endpoint))).failingSince).toBeNull();
    const { items } = await listDeliveries(database.db, refOf(endpoint), PAGE);
    expect(items[0]).toMatchObject({ state: "delivered", attemptCount: 2 });
  });

  test("wait for Retry-After, and so do other deliveries of the endpoint", async () => {
    let isUp = false;
    const { url, arrived } = await receive((_, response) => {
      response.writeHead(isUp ? 200 : 429, isUp ? {} : { "retry-after": "600" }).end();
    });
    await insertEndpoint(database.db, tenant, url, {}, clock);
    await insertEvent(database.db, tenant);
    await sender.drain();
    isUp = true;
    await insertEvent(database.db, tenant);
    clock.advance(60_000);
    await sender.drain();
    expect(arrived).toHaveLength(1);
    clock.advance(600_000);
    await sender.drain();
    expect(arrived).toHaveLength(3);
  });

  test("count a redirect as a failure", async () => {
    const { url } = await receive(
      (_, response) => void response.writeHead(302, { location: "/" }).end(),
    );
    const endpoint = await insertEndpoint(database.db, tenant, url, {}, clock);
    await insertEvent(database.db, tenant);
    await sender.drain();
    const { items } = await listDeliveries(database.db, refOf(endpoint), PAGE);
    expect(items[0]?.attempts[0]).toMatchObject({ status: 302, error: "redirected" });
  });
});

describe("an endpoint", () => {
  test("that answers 410 is disabled at once, and gets nothing until it is enabled", async () => {
    let status = 410;
    const { url, arrived } = await receive((_, response) => void response.writeHead(status).end());
    const endpoint = await insertEndpoint(database.db, tenant, url, {}, clock);
    await insertEvent(database.db, tenant);
    await sender.drain();
    await insertEvent(database.db, tenant);
    await sender.drain();
    expect(arrived).toHaveLength(1);
    expect(await getEndpoint(database.db, refOf(endpoint))).toMatchObject({
      state: "disabled",
      disabledReason: "gone",
    });
    expect(sender.disabled).toEqual(["gone"]);
    const facts = await getEndpoint(database.db, refOf(endpoint));
    // Only readers of the extended form see it.
    const seen = (await listExtendedEvents(database.db, tenant.id, { limit: 500 })).items;
    expect(seen.map(({ type }) => type)).toEqual([
      "deposit_detected",
      "endpoint.disabled",
      "deposit_detected",
    ]);
    expect(seen[1]).toMatchObject({
      data: { endpointId: endpoint.id, reason: "gone", failingSince: facts.failingSince },
      details: null,
    });
    expect([...Value.Errors(ExtendedEventItem, seen[1])]).toEqual([]);
    expect((await replay()).map(({ type }) => type)).toEqual([
      "deposit_detected",
      "deposit_detected",
    ]);

    status = 200;
    const enabled = await updateEndpoint(deps(), { ...refOf(endpoint), enabled: true });
    expect(enabled).toMatchObject({ state: "enabled", disabledReason: null, disabledAt: null });
    await insertEvent(database.db, tenant);
    await sender.drain();
    expect(arrived).toHaveLength(2);
    // Whatever it missed is sent by its time.
    const since = "0001-01-01T00:00:00.000Z";
    const range = { since, until: undefined };
    expect(await resendRange(deps(), refOf(endpoint), range)).toEqual({
      queued: 3,
      nextCursor: null,
    });
    await sender.drain();
    expect(new Set(arrived.map(({ id }) => id)).size).toBe(3);
  });

  test("that is disabled is reported to other extended endpoints only, without its URL [T231]", async () => {
    const [gone, extended, plain] = [
      await receive((_, response) => void response.writeHead(410).end()),
      await receive(),
      await receive(),
    ];
    const { id } = await insertEndpoint(database.db, tenant, gone.url, { extended: true }, clock);
    await insertEndpoint(database.db, tenant, extended.url, { extended: true }, clock);
    await insertEndpoint(database.db, tenant, plain.url, {}, clock);
    await insertEvent(database.db, tenant);
    await sender.drain();
    await sender.drain();
    const typesOf = ({ arrived }: { arrived: readonly Arrived[] }) =>
      arrived.map(({ json }) => json.type);
    expect(typesOf(gone)).toEqual(["deposit_detected"]);
    expect(typesOf(extended)).toEqual(["deposit_detected", "endpoint.disabled"]);
    expect(extended.arrived[1]?.json.data).toMatchObject({ endpointId: id, reason: "gone" });
    expect(extended.arrived[1]?.body).not.toContain(gone.url);
    expect(typesOf(plain)).toEqual(["deposit_detected"]);
  });

  test("that its owner disables causes no event", async () => {
    const endpoint = await insertEndpoint(database.db, tenant, "http://127.0.0.1:1", {}, clock);
    await updateEndpoint(deps(), { ...refOf(endpoint), enabled: false });
    const { items } = await listExtendedEvents(database.db, tenant.id, { limit: 500 });
    expect(items).toEqual([]);
  });

  test("that fails for five days is disabled", async () => {
    const { url } = await receive((_, response) => void response.writeHead(500).end());
    const endpoint = await insertEndpoint(database.db, tenant, url, {}, clock);
    for (let hour = 0; hour <= 130; hour += 10) {
      await insertEvent(database.db, tenant);
      await sender.drain();
      clock.advance(10 * HOUR_MS);
    }
    expect(await getEndpoint(database.db, refOf(endpoint))).toMatchObject({
      state: "disabled",
      disabledReason: "failing",
    });
    expect(sender.disabled).toEqual(["failing"]);
    const { items } = await listExtendedEvents(database.db, tenant.id, {
      limit: 500,
      type: "endpoint.disabled",
    });
    expect(items).toMatchObject([{ data: { endpointId: endpoint.id, reason: "failing" } }]);
  });

  test("that is disabled keeps its pending deliveries for when it is enabled", async () => {
    const { url, arrived } = await receive();
    const endpoint = await insertEndpoint(database.db, tenant, url, {}, clock);
    await insertEvent(database.db, tenant);
    await updateEndpoint(deps(), { ...refOf(endpoint), enabled: false });
    await sender.drain();
    expect(arrived).toHaveLength(0);
    await updateEndpoint(deps(), { ...refOf(endpoint), enabled: true });
    await insertEvent(database.db, tenant);
    await sender.drain();
    expect(arrived.map(({ id }) => id).sort()).toEqual((await replay()).map(({ id }) => id).sort());
    expect(arrived).toHaveLength(2);
  });

  test("gets a test once, also while it is disabled, and its failure disables nothing", async () => {
    const { url, arrived } = await receive((_, response) => void response.writeHead(410).end());
    const endpoint = await insertEndpoint(database.db, tenant, url, {}, clock);
    const { eventId, test: isTest } = await insertTest(deps(), refOf(endpoint));
    await sender.drain();
    expect(isTest).toBe(true);
    expect(arrived.map(({ json, id }) => [json.type, json.data, id])).toEqual([
      ["endpoint.test", { endpointId: endpoint.id }, eventId],
    ]);
    expect(await getDelivery(database.db, refOf(endpoint), eventId)).toMatchObject({
      state: "failed",
      attemptCount: 1,
    });
    expect(await getEndpoint(database.db, refOf(endpoint))).toMatchObject({
      state: "enabled",
      failingSince: null,
    });
    await updateEndpoint(deps(), { ...refOf(endpoint), enabled: false });
    await insertTest(deps(), refOf(endpoint));
    await sender.drain();
    expect(arrived).toHaveLength(2);
  });

  test("that was deleted gets nothing, and its deliveries are deleted later", async () => {
    const { url, arrived } = await receive();
    const endpoint = await insertEndpoint(database.db, tenant, url, {}, clock);
    await insertEvent(database.db, tenant);
    await sender.poll();
    await sender.idle();
    await insertEvent(database.db, tenant);
    await deleteEndpoint(database.db, refOf(endpoint));
    await sender.drain();
    expect(arrived).toHaveLength(1);
    expect(await purgeDeliveries(database.db, clock.now())).toBe(1);
    expect(await purgeDeliveries(database.db, clock.now())).toBe(0);
  });

  test("does not delay others while it does not answer [T220]", async () => {
    const silent = await receive(() => undefined);
    const { url, arrived } = await receive();
    const other = await createTenant(database.db);
    await insertEndpoint(database.db, tenant, silent.url, {}, clock);
    await insertEndpoint(database.db, tenant, `${url}/same`, {}, clock);
    await insertEndpoint(database.db, other, `${url}/other`, {}, clock);
    for (let n = 0; n < 50; n += 1) {
      await insertEvent(database.db, tenant);
      await insertEvent(database.db, other);
    }
    // Not drained: the requests to the silent endpoint are under way all the time.
    for (let n = 0; n < 2_000 && arrived.length < 100; n += 1) {
      sender.prefer(tenant.id);
      sender.prefer(other.id);
      await sender.poll();
      await clock.sleep(5);
    }
    expect(arrived).toHaveLength(100);
    expect(silent.arrived.length).toBeLessThanOrEqual(4);
  });

  test("that is ordered gets the events of a wallet and token one after the other", async () => {
    const failing = new Set(["0xa"]);
    const { url, arrived } = await receive((one, response) => {
      response.writeHead(failing.has(String(one.json.data["walletAddress"])) ? 500 : 200).end();
    });
    await insertEndpoint(database.db, tenant, url, { ordered: true }, clock);
    for (let n = 1; n <= 6; n += 1) await insertEventOf("0xa", 2);
    for (let n = 1; n <= 6; n += 1) await insertEventOf("0xb", 2);
    await sender.drain();
    const idsOf = (wallet: string) =>
      arrived.filter(({ json }) => json.data["walletAddress"] === wallet).map(({ id }) => id);
    const stored = (await replay()).map(({ id }) => id);
    expect(idsOf("0xa")).toEqual(stored.slice(0, 1));
    // The others wait for their turn behind the failing endpoint's pause, never out of order.
    failing.clear();
    for (let n = 0; n < 20; n += 1) {
      clock.advance(20_000);
      await sender.drain();
    }
    expect(idsOf("0xa").slice(1)).toEqual(stored.slice(0, 6));
    expect(idsOf("0xb")).toEqual(stored.slice(6));
  });
});

describe("requests to send again", () => {
  test("send a delivered event again, by its id", async () => {
    const { url, arrived } = await receive();
    const endpoint = await insertEndpoint(database.db, tenant, url, {}, clock);
    await insertEvent(database.db, tenant);
    await sender.drain();
    await resendEvent(deps(), refOf(endpoint), arrived[0]?.id ?? "");
    await sender.drain();
    expect(arrived.map(({ id }) => id)).toEqual([arrived[0]?.id, arrived[0]?.id]);
    await expect(resendEvent(deps(), refOf(endpoint), systemRandom.uuid())).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
  });

  test("send a range in pages, strictly after its begin and up to its end", async () => {
    const { url, arrived } = await receive();
    await database.db.transaction().execute((tx) =>
      sql`select append_event(gen_random_uuid(), ${tenant.id}::uuid, 'status_changed', '{}')
        from generate_series(1, 1_002)`.execute(tx),
    );
    const endpoint = await insertEndpoint(database.db, tenant, url, {}, clock);
    const { rows } = await sql<{ at: string }>`select created_at as at from events
      where integrator_id = ${tenant.id} order by created_at`.execute(database.db);
    const [first = "", last = ""] = [rows[0]?.at, rows[1_001]?.at];
    const page = await resendRange(deps(), refOf(endpoint), { since: first, until: last });
    expect(page).toEqual({ queued: 1_000, nextCursor: rows[1_000]?.at });
    const rest = { since: page.nextCursor ?? "", until: last };
    expect(await resendRange(deps(), refOf(endpoint), rest)).toEqual({
      queued: 1,
      nextCursor: null,
    });
    await sender.drain();
    expect(new Set(arrived.map(({ id }) => id)).size).toBe(1_001);
  });

  test("of a disabled endpoint are refused", async () => {
    const { url } = await receive();
    const endpoint = await insertEndpoint(database.db, tenant, url, {}, clock);
    await updateEndpoint(deps(), { ...refOf(endpoint), enabled: false });
    const range = { since: "2026-01-01T00:00:00.000Z", until: undefined };
    const refused = { code: "VALIDATION_ERROR" };
    await expect(resendRange(deps(), refOf(endpoint), range)).rejects.toMatchObject(refused);
    await expect(resendEvent(deps(), refOf(endpoint), systemRandom.uuid())).rejects.toMatchObject(
      refused,
    );
  });
});

describe("the outbox", () => {
  test("loses no event between endpoints that are created while events are written", async () => {
    const { url, arrived } = await receive();
    let isWritten = false;
    const writing = (async () => {
      for (let n = 0; n < 200; n += 1) await insertEvent(database.db, tenant);
      isWritten = true;
    })();
    const since = new Map<string, string>();
    for (let n = 0; n < 5; n += 1) {
      const { id } = await insertEndpoint(database.db, tenant, `${url}/${n}`, {}, clock);
      const row = await database.db
        .selectFrom("webhook_endpoints")
        .select("since")
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      since.set(`/${n}`, row.since);
      await sender.drain(tenant.id);
    }
    while (!isWritten) await sender.drain(tenant.id);
    await writing;
    await sender.drain(tenant.id);
    const events = await replay();
    for (const [path, stamp] of since) {
      const got = new Set(arrived.filter((one) => one.path === path).map(({ id }) => id));
      const due = events.filter(({ timestamp }) => timestamp > stamp).map(({ id }) => id);
      expect([...got].sort()).toEqual(due.sort());
    }
  });

  test("is sent once by two processes", async () => {
    const { url, arrived } = await receive();
    const second = createTestDispatcher(database.db, clock);
    opened.push(second);
    await insertEndpoint(database.db, tenant, url, {}, clock);
    for (let n = 0; n < 60; n += 1) {
      await insertEvent(database.db, tenant);
      if (n % 10 === 0) await Promise.all([sender.drain(tenant.id), second.drain(tenant.id)]);
    }
    await Promise.all([sender.drain(tenant.id), second.drain(tenant.id)]);
    expect(arrived.map(({ id }) => id).sort()).toEqual((await replay()).map(({ id }) => id).sort());
  });
});
