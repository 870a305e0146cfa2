import { connect as connectTcp } from "node:net";
import { io, type Socket } from "socket.io-client";
import { Value } from "typebox/value";
import { WebSocket } from "ws";
import { ErrorObject, StreamEvent } from "@sluice/sdk/wire";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type RunningStream, startStream } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant, insertEvent, PEPPER, type Tenant } from "../../test/support/tenants.ts";
import { appendEvent, getNewestStamp, listEvents, listExtendedEvents } from "../events/index.ts";
import { createKey, revokeKey } from "../integrators/index.ts";
import { systemRandom } from "../roles/system-ports.ts";
import { FRAMES_MAX } from "./connection-guard.ts";
import { createRateLimiter } from "./rate-limits.ts";

const limiter = createRateLimiter({
  perKey: 1,
  perAddress: 100_000,
  wrongKeyPerAddress: 100_000,
  requestIndexPerKey: 1,
  newAddressesPerKey: 1,
  nodeRequestsPerKey: 1,
});

let database: TestDatabase;
let stream: RunningStream;
let alice: Tenant;
let bob: Tenant;
const sockets: Socket[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  stream = await startStream({ db: database.db, limiter });
  alice = await createTenant(database.db);
  bob = await createTenant(database.db);
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.disconnect();
});
afterAll(async () => {
  await stream.close();
  await database.drop();
});

function open(options: object): Socket {
  const socket = io(stream.url, { transports: ["websocket"], forceNew: true, ...options });
  sockets.push(socket);
  return socket;
}

/** A socket after its greeting, and the events it has received. */
async function join(tenant: Tenant): Promise<{ heard: StreamEvent[]; socket: Socket }> {
  const socket = open({ auth: { apiKey: tenant.apiKey } });
  const heard: StreamEvent[] = [];
  socket.on("event", (event: StreamEvent) => heard.push(event));
  const greeting = await new Promise((resolve) => socket.once("connected", resolve));
  expect(greeting).toEqual({ integratorName: tenant.name });
  return { heard, socket };
}

/** Waits for the next event of a socket, unless it has arrived already. */
async function until(socket: Socket, isThere: () => boolean): Promise<void> {
  while (!isThere()) await new Promise((resolve) => socket.once("event", resolve));
}

describe("handshake", () => {
  test.each([
    ["no key", {}, "UNAUTHORIZED"],
    ["an empty key", { auth: { apiKey: "" } }, "UNAUTHORIZED"],
    ["a key that is not a UUID", { auth: { apiKey: "x" } }, "FORBIDDEN"],
    ["a key of another shape", { auth: { apiKey: { a: 1 } } }, "FORBIDDEN"],
    ["a list of keys", { auth: { apiKey: ["x"] } }, "FORBIDDEN"],
    [
      "an unknown key in the address",
      { query: { apiKey: "0b5e0a4e-6f3c-4a53-9d7a-2f9f0a3f6c11" } },
      "FORBIDDEN",
    ],
  ])(
    "with %s is refused with the error object, before the greeting [T99]",
    async (_, opts, code) => {
      const socket = open(opts);
      const greeted: unknown[] = [];
      socket.on("connected", (greeting) => greeted.push(greeting));
      const error = await new Promise<Error & { data?: unknown }>((resolve) =>
        socket.once("connect_error", resolve),
      );
      expect([...Value.Errors(ErrorObject, error.data)]).toEqual([]);
      expect(error.data).toMatchObject({ code, retryable: false });
      expect(socket.active).toBe(false);
      expect(greeted).toEqual([]);
    },
  );

  test("with the key in the URL is accepted, as browsers send it", async () => {
    const socket = open({ query: { apiKey: alice.apiKey } });
    expect(await new Promise((resolve) => socket.once("connected", resolve))).toEqual({
      integratorName: alice.name,
    });
  });
});

describe("stream", () => {
  test("sends every event in order, equal to the replay, to its integrator only", async () => {
    const [first, second, other] = await Promise.all([join(alice), join(alice), join(bob)]);
    for (let chainId = 1; chainId <= 20; chainId += 1) {
      await insertEvent(database.db, alice, chainId);
      if (chainId % 6 === 0) await stream.tail.pump();
    }
    await insertEvent(database.db, bob, 77);
    await stream.tail.pump();
    await until(first.socket, () => first.heard.length === 20);
    await until(second.socket, () => second.heard.length === 20);
    await until(other.socket, () => other.heard.length === 1);

    const { items } = await listEvents(database.db, alice.id, { limit: 200 });
    const replay = items.map(({ type, data, timestamp }) => ({ type, data, timestamp }));
    expect(first.heard).toEqual(replay);
    expect(second.heard).toEqual(replay);
    expect(other.heard).toMatchObject([{ data: { chainId: 77 } }]);
    expect(first.heard.flatMap((event) => [...Value.Errors(StreamEvent, event)])).toEqual([]);
  });

  test.each([{ auth: { extended: true } }, { query: { extended: "true" } }])(
    "adds details for a socket that asked for them, and changes nothing for others: %j [T212]",
    async ({ auth = {}, query = {} }) => {
      const plain = await join(alice);
      const socket = open({ auth: { apiKey: alice.apiKey, ...auth }, query });
      const heard: StreamEvent[] = [];
      socket.on("event", (event: StreamEvent) => heard.push(event));
      await new Promise((resolve) => socket.once("connected", resolve));
      const before = await getNewestStamp(database.db, alice.id);
      await database.db.transaction().execute((tx) =>
        // CAST: a type that the published interface does not have.
        appendEvent(tx, systemRandom, {
          integratorId: alice.id,
          type: "another.type" as "status_changed",
          data: {},
        }),
      );
      await insertEvent(database.db, alice);
      await stream.tail.pump();
      await until(socket, () => heard.length === 2);
      await until(plain.socket, () => plain.heard.length === 1);

      const since = before ?? undefined;
      const { items } = await listExtendedEvents(database.db, alice.id, { since, limit: 10 });
      expect(heard).toEqual(
        items.map(({ type, data, timestamp, details }) => ({ type, data, timestamp, details })),
      );
      expect(heard.map((event) => Object.keys(event))).toEqual([
        ["type", "data", "timestamp", "details"],
        ["type", "data", "timestamp", "details"],
      ]);
      const published = await listEvents(database.db, alice.id, { since, limit: 10 });
      expect(plain.heard).toEqual(
        published.items.map(({ type, data, timestamp }) => ({ type, data, timestamp })),
      );
      expect(Object.keys(plain.heard[0] ?? {})).toEqual(["type", "data", "timestamp"]);
    },
  );

  test("refuses a handshake whose `extended` is neither true nor false", async () => {
    const socket = open({ auth: { apiKey: alice.apiKey, extended: "yes" } });
    const error = await new Promise<Error & { data?: unknown }>((resolve) =>
      socket.once("connect_error", resolve),
    );
    expect(error.data).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { field: "extended" },
    });
  });

  test("disconnects a client that sends an event, and lets none join another room [T99]", async () => {
    const { heard, socket } = await join(alice);
    const reason = new Promise((resolve) => socket.once("disconnect", resolve));
    socket.emit("join", bob.id);
    expect(await reason).toBe("io server disconnect");
    await insertEvent(database.db, bob);
    await stream.tail.pump();
    expect(heard).toEqual([]);
  });

  test("disconnects a client that sends more than 16 kB [T98]", async () => {
    const { socket } = await join(alice);
    const reason = new Promise((resolve) => socket.once("disconnect", resolve));
    socket.emit("x", "x".repeat(20_000));
    expect(await reason).toMatch(/transport/);
  });

  test("disconnects a client that stopped reading, and no other [T98]", async () => {
    const tenant = await createTenant(database.db);
    const [good, closed] = [await join(tenant), Promise.withResolvers<void>()];
    const slow = connectTcp(stream.port, "127.0.0.1");
    slow.on("error", () => undefined);
    slow.on("close", () => closed.resolve());
    await greetRaw(slow, tenant);
    slow.pause();
    let count = 0;
    const before = await countConnections();
    while ((await countConnections()) === before) {
      await appendMany(tenant, 500);
      count += 500;
      await stream.tail.pump();
      await until(good.socket, () => good.heard.length === count);
      expect(count).toBeLessThan(60_000);
    }
    expect(good.socket.connected).toBe(true);
    slow.resume();
    await closed.promise;
  });
});

describe("a socket that cannot join its room", () => {
  test("is disconnected, so that every client reconnects by itself", async () => {
    let broken = true;
    const db = new Proxy(database.db, {
      get(real, name) {
        if (broken && name === "selectFrom") {
          return (table: "events") => {
            if (table === "events") throw new Error("the database is away");
            return real.selectFrom(table);
          };
        }
        const value: unknown = Reflect.get(real, name, real);
        return typeof value === "function" ? value.bind(real) : value;
      },
    });
    const failing = await startStream({ db, limiter });
    const tenant = await createTenant(database.db);
    const socket = io(failing.url, {
      transports: ["websocket"],
      forceNew: true,
      auth: { apiKey: tenant.apiKey },
    });
    sockets.push(socket);
    const greeting = new Promise((resolve) => socket.once("connected", resolve));
    const reason = await new Promise((resolve) => socket.once("disconnect", resolve));
    broken = false;
    expect(reason).toBe("transport close");
    expect(await greeting).toEqual({ integratorName: tenant.name });
    socket.disconnect();
    await failing.close();
  });
});

function countConnections(): Promise<number> {
  return new Promise((resolve, reject) =>
    stream.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}

async function appendMany(tenant: Tenant, count: number): Promise<void> {
  await database.pool.query(
    `select append_event(gen_random_uuid(), $1, 'deposit_detected', jsonb_build_object(
       'walletAddress', repeat('x', 400), 'chainId', 2, 'tokenAddress', 'x', 'queued', true))
     from generate_series(1, $2::int)`,
    [tenant.id, count],
  );
}

/** Writes the handshake by hand on a raw socket, up to the greeting. */
async function greetRaw(socket: ReturnType<typeof connectTcp>, tenant: Tenant): Promise<void> {
  let text = "";
  socket.on("data", (chunk) => (text += String(chunk)));
  const hear = async (words: string) => {
    while (!text.includes(words)) await new Promise((resolve) => socket.once("data", resolve));
  };
  const request = [
    `GET /socket.io/?EIO=4&transport=websocket&apiKey=${tenant.apiKey} HTTP/1.1`,
    `Host: 127.0.0.1:${stream.port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    `Sec-WebSocket-Key: ${Buffer.alloc(16).toString("base64")}`,
  ];
  socket.write(`${request.join("\r\n")}\r\n\r\n`);
  await hear("pingInterval");
  // A masked text frame with the packet "40": connect to the main namespace.
  socket.write(Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x34, 0x30]));
  await hear('"connected"');
}

describe("a revoked key", () => {
  test("is disconnected from the stream, alone, and cannot reconnect", async () => {
    const { keyId, apiKey } = await createKey(
      { db: database.db, random: systemRandom, pepper: PEPPER },
      { integrator: alice.name, depositAddresses: true },
    );
    const { socket: cut } = await join({ ...alice, apiKey });
    const { socket: kept } = await join(alice);
    await revokeKey(database.db, { keyId });
    const gone = new Promise((resolve) => cut.once("disconnect", resolve));
    await stream.cutRefused();
    expect(await gone).toBe("io server disconnect");
    expect(kept.connected).toBe(true);
    const again = open({ auth: { apiKey }, reconnection: false });
    const error = await new Promise<Error & { data?: unknown }>((resolve) =>
      again.once("connect_error", resolve),
    );
    expect(error.data).toMatchObject({ code: "FORBIDDEN" });
  });
});

const RATE_LIMITED = {
  code: "RPC_UNAVAILABLE",
  retryable: true,
  details: { reason: "rate_limited" },
};

/** Returns the result of a handshake: the greeting's integrator, or the error object. */
function knock(url: string, apiKey: string, from?: string): Promise<unknown> {
  const socket = io(url, {
    transports: ["websocket"],
    forceNew: true,
    reconnection: false,
    auth: { apiKey },
    ...(from === undefined ? {} : { extraHeaders: { "x-forwarded-for": from } }),
  });
  sockets.push(socket);
  return new Promise((resolve) => {
    socket.once("connected", ({ integratorName }) => resolve(integratorName));
    socket.once("connect_error", (error: Error & { data?: unknown }) => resolve(error.data));
  });
}

/** Opens a connection that has sent nothing yet. */
async function openRaw({ port }: RunningStream, query = ""): Promise<WebSocket> {
  const raw = new WebSocket(`ws://127.0.0.1:${port}/socket.io/?EIO=4&transport=websocket${query}`);
  await new Promise((resolve) => raw.addEventListener("open", resolve));
  return raw;
}

describe("sockets [T98]", () => {
  const TOO_MANY = {
    code: "RPC_UNAVAILABLE",
    retryable: true,
    details: { reason: "too_many_sockets", limit: 2 },
  };
  const GENEROUS = 1_000;

  test("of one key are capped separately, and a closed one frees a place", async () => {
    const socketCaps = { perKey: 2, perAddress: GENEROUS };
    const capped = await startStream({ db: database.db, limiter, socketCaps });
    const [first, second, third] = await Promise.all(
      [1, 2, 3].map(() => knock(capped.url, alice.apiKey)),
    );
    const answers = [first, second, third];
    expect(answers.filter((answer) => answer === alice.name)).toHaveLength(2);
    expect(answers.find((answer) => answer !== alice.name)).toMatchObject(TOO_MANY);
    expect(await knock(capped.url, bob.apiKey)).toBe(bob.name);
    sockets.splice(0).forEach((socket) => socket.disconnect());
    await expect.poll(() => knock(capped.url, alice.apiKey)).toBe(alice.name);
    await capped.close();
  });

  test("of one address are capped across keys", async () => {
    const socketCaps = { perKey: GENEROUS, perAddress: 2 };
    const trustedProxies = ["127.0.0.1"];
    const capped = await startStream({ db: database.db, limiter, socketCaps, trustedProxies });
    expect(await knock(capped.url, alice.apiKey, "2001:db8::1")).toBe(alice.name);
    expect(await knock(capped.url, bob.apiKey, "2001:db8::2")).toBe(bob.name);
    expect(await knock(capped.url, bob.apiKey, "2001:db8::3")).toMatchObject(TOO_MANY);
    expect(await knock(capped.url, bob.apiKey, "203.0.113.1")).toBe(bob.name);
    await capped.close();
  });

  test("are not counted when refused", async () => {
    const socketCaps = { perKey: 1, perAddress: 1 };
    const capped = await startStream({ db: database.db, limiter, socketCaps });
    for (let count = 0; count < 3; count += 1) {
      await expect
        .poll(() => knock(capped.url, crypto.randomUUID()))
        .toMatchObject({ code: "FORBIDDEN" });
    }
    await expect.poll(() => knock(capped.url, alice.apiKey)).toBe(alice.name);
    await capped.close();
  });

  test("without a handshake are capped at the same number", async () => {
    const socketCaps = { perKey: GENEROUS, perAddress: 2 };
    const capped = await startStream({ db: database.db, limiter, socketCaps });
    const silent = await Promise.all(Array.from({ length: 10 }, () => openRaw(capped)));
    const countOpen = () => silent.filter(({ readyState }) => readyState === 1).length;
    await expect.poll(countOpen).toBe(4);
    silent.forEach((socket) => socket.close());
    await expect.poll(() => silent.every(({ readyState }) => readyState === 3)).toBe(true);
    expect(await knock(capped.url, alice.apiKey)).toBe(alice.name);
    await capped.close();
  });

  test("are disconnected after repeated requests for unknown namespaces", async () => {
    const raw = await openRaw(stream);
    const heard: string[] = [];
    raw.addEventListener("message", ({ data }) => heard.push(String(data)));
    const closed = new Promise((resolve) => raw.addEventListener("close", resolve));
    for (let count = 0; count < 1_000; count += 1) raw.send("40/nothing,");
    await closed;
    expect(heard.length).toBeLessThan(200);
  });

  test("are refused and disconnected on a second handshake during the first", async () => {
    const raw = await openRaw(stream, `&apiKey=${alice.apiKey}`);
    const heard: string[] = [];
    raw.addEventListener("message", ({ data }) => heard.push(String(data)));
    const closed = new Promise((resolve) => raw.addEventListener("close", resolve));
    for (let count = 0; count < 50; count += 1) raw.send("40");
    await closed;
    expect(heard.filter((text) => text.includes('"connected"'))).toEqual([]);
    const [refusal = ""] = heard.filter((text) => text.startsWith("44"));
    const { data }: { data: unknown } = JSON.parse(refusal.slice(2));
    expect([...Value.Errors(ErrorObject, data)]).toEqual([]);
    expect(data).toMatchObject({ code: "VALIDATION_ERROR", details: { field: "connect" } });
  });
});

describe("a busy connection [T98]", () => {
  /** Opens a websocket without a key; the client of Node has no pings. */
  async function openPlain(url: string): Promise<WebSocket> {
    const address = `${url.replace("http", "ws")}/socket.io/?EIO=4&transport=websocket`;
    const raw = new WebSocket(address);
    raw.on("error", () => undefined);
    await new Promise((resolve) => raw.once("open", resolve));
    return raw;
  }
  const closing = (raw: WebSocket) => new Promise((resolve) => raw.once("close", resolve));

  test("gets no more answers to pings than frames are allowed, and is closed", async () => {
    const raw = await openPlain(stream.url);
    let pongs = 0;
    raw.on("pong", () => (pongs += 1));
    const closed = closing(raw);
    for (let count = 0; count < 5_000; count += 1) raw.ping();
    await closed;
    expect(pongs).toBeLessThanOrEqual(FRAMES_MAX);
  });

  test("may ping as often as proxies do", async () => {
    const raw = await openPlain(stream.url);
    for (let count = 0; count < 5; count += 1) {
      raw.ping(String(count));
      expect(String(await new Promise((resolve) => raw.once("pong", resolve)))).toBe(String(count));
    }
    raw.terminate();
  });

  test("is closed when it sends answers to pings that nobody sent", async () => {
    const raw = await openPlain(stream.url);
    const closed = closing(raw);
    for (let count = 0; count < 1_000; count += 1) raw.pong();
    await closed;
    expect(raw.readyState).toBe(WebSocket.CLOSED);
  });

  test("is closed when it sends more bytes than a client needs, in few frames", async () => {
    const raw = await openPlain(stream.url);
    const closed = closing(raw);
    let sent = 0;
    // Packets of a type that nobody answers, each within the size of a packet.
    const timer = setInterval(() => {
      raw.send(`3${"x".repeat(10_000)}`);
      sent += 1;
    }, 5);
    await closed;
    clearInterval(timer);
    expect(sent).toBeLessThan(FRAMES_MAX);
  });

  test("without a key counts against its address once it is opened", async () => {
    const limits = {
      perKey: 10,
      perAddress: 3,
      wrongKeyPerAddress: 10,
      requestIndexPerKey: 1,
      newAddressesPerKey: 1,
      nodeRequestsPerKey: 1,
    };
    const limited = await startStream({ db: database.db, limiter: createRateLimiter(limits) });
    const silent = [await openPlain(limited.url), await openPlain(limited.url)];
    expect(await knock(limited.url, bob.apiKey)).toBe(bob.name);
    expect(await knock(limited.url, bob.apiKey)).toMatchObject(RATE_LIMITED);
    for (const raw of silent) raw.terminate();
    await limited.close();
  });
});

describe("too many handshakes", () => {
  const limits = {
    perKey: 1,
    perAddress: 2,
    wrongKeyPerAddress: 1,
    requestIndexPerKey: 1,
    newAddressesPerKey: 1,
    nodeRequestsPerKey: 1,
  };

  test("of one address are refused with the interface's error object, across keys", async () => {
    const limited = await startStream({ db: database.db, limiter: createRateLimiter(limits) });
    expect(await knock(limited.url, bob.apiKey)).toBe(bob.name);
    expect(await knock(limited.url, bob.apiKey)).toBe(bob.name);
    expect(await knock(limited.url, bob.apiKey)).toMatchObject(RATE_LIMITED);
    await limited.close();
  });

  test("through a trusted proxy do not limit other clients", async () => {
    const trustedProxies = ["127.0.0.1"];
    const limiter = createRateLimiter(limits);
    const limited = await startStream({ db: database.db, limiter, trustedProxies });
    for (let count = 0; count < 3; count += 1) {
      await knock(limited.url, bob.apiKey, "203.0.113.1");
    }
    expect(await knock(limited.url, bob.apiKey, "203.0.113.1")).toMatchObject(RATE_LIMITED);
    expect(await knock(limited.url, bob.apiKey, "203.0.113.2")).toBe(bob.name);
    await limited.close();
  });

  test("with wrong keys block even the right key [T87]", async () => {
    const limiter = createRateLimiter({ ...limits, perAddress: 100 });
    const limited = await startStream({ db: database.db, limiter });
    expect(await knock(limited.url, crypto.randomUUID())).toMatchObject({ code: "FORBIDDEN" });
    expect(await knock(limited.url, bob.apiKey)).toMatchObject(RATE_LIMITED);
    await limited.close();
  });
});
