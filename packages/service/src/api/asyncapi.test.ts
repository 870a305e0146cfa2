/** Messages of the stream fit the AsyncAPI document that the service serves. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { io, type Socket } from "socket.io-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createGenerousLimiter,
  type RunningStream,
  SERVED_BY,
  startStream,
} from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import {
  createTenant,
  insertEvent,
  insertStatusEvent,
  type Tenant,
} from "../../test/support/tenants.ts";
import { systemRandom } from "../roles/system-ports.ts";

let database: TestDatabase;
let stream: RunningStream;
let tenant: Tenant;

beforeAll(async () => {
  database = await createTestDatabase();
  tenant = await createTenant(database.db);
  stream = await startStream({ db: database.db, limiter: createGenerousLimiter() });
});
afterAll(async () => {
  await stream.close();
  await database.drop();
});

/** Returns the served document, and a function that lists the misfits of a payload with one of its messages. */
async function readDocument() {
  const document: {
    readonly info: { readonly version: string };
    readonly servers: { readonly service: { readonly host: string } };
    readonly channels: object;
    readonly components: {
      readonly messages: Readonly<Record<string, { readonly payload: object }>>;
    };
  } = JSON.parse(await (await fetch(`${stream.url}/asyncapi.json`)).text());
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "https://document.example/", components: document.components });
  return {
    ...document,
    misfitsOf(message: string, payload: unknown) {
      const text = JSON.stringify(document.components.messages[message]?.payload);
      const check = ajv.compile(JSON.parse(text.replaceAll('"#/', '"https://document.example/#/')));
      check(payload);
      return check.errors ?? [];
    },
  };
}

function connect(auth: object): Socket {
  return io(stream.url, { transports: ["websocket"], auth, reconnection: false, forceNew: true });
}

test("greeting, events and refusals fit the served document [T184]", async () => {
  const document = await readDocument();
  const heard: [string, unknown][] = [];
  const client = connect({ apiKey: tenant.apiKey });
  client.onAny((channel: string, payload: unknown) => heard.push([channel, payload]));
  await expect.poll(() => heard.length).toBe(1);
  await insertEvent(database.db, tenant);
  await insertStatusEvent(database.db, tenant, systemRandom.uuid());
  await stream.tail.pump();
  await expect.poll(() => heard.length).toBe(3);
  client.close();
  expect(heard.map(([channel]) => channel)).toEqual(["connected", "event", "event"]);
  for (const [channel, payload] of heard) {
    expect(Object.keys(document.channels)).toContain(channel);
    expect(document.misfitsOf(channel, payload)).toEqual([]);
  }
  const refused = connect({ apiKey: systemRandom.uuid() });
  const error = await new Promise<Error>((resolve) => refused.once("connect_error", resolve));
  refused.close();
  const refusal = { message: error.message, data: Reflect.get(error, "data") };
  expect(document.misfitsOf("refused", refusal)).toEqual([]);
  expect(document.misfitsOf("refused", { message: "no data" })).not.toEqual([]);
  expect(document.misfitsOf("event", { type: "unknown" })).not.toEqual([]);
});

test("the documents name the version and the servers of the service", async () => {
  const { info, servers } = await readDocument();
  expect([info.version, servers.service.host]).toEqual([
    SERVED_BY.version,
    new URL(SERVED_BY.serviceUrl).host,
  ]);
});
