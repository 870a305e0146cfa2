import { connect } from "node:net";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import * as wire from "@sluice/sdk/wire";
import { toChecksumAddress } from "@sluice/sdk/address";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningApi, startApi } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import {
  createHex,
  createTenant,
  insertAddress,
  insertEvent,
  insertSettlement,
  insertStatusEvent,
  type Tenant,
  USDC,
} from "../../test/support/tenants.ts";
import { NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import type { IndexRequest } from "./request-index.ts";

const SCANNED = [
  {
    chainId: 30,
    name: "base",
    kind: "evm" as const,
    tokens: [
      { symbol: "USDC", address: toEvmAddress(USDC), decimals: 6, minDepositUnits: "0.50" },
      {
        symbol: "DAI",
        address: toEvmAddress(`0x${"ab".repeat(20)}`),
        decimals: 18,
        minDepositUnits: undefined,
      },
    ],
  },
];

let database: TestDatabase;
let api: RunningApi;
let alice: Tenant;
const asked: IndexRequest[] = [];
let bob: Tenant;

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database;
  api = await startApi({
    db,
    requestIndex: async (request) => {
      asked.push(request);
      return { queued: false, reason: "below_min" };
    },
    scanned: SCANNED,
  });
  alice = await createTenant(db);
  bob = await createTenant(db);
});
afterAll(async () => {
  await api.close();
  await database.drop();
});

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

async function get(path: string, tenant?: Tenant, init: RequestInit = {}): Promise<Answer> {
  const headers = tenant ? { "x-api-key": tenant.apiKey } : {};
  const response = await fetch(`${api.url}${path}`, { headers, ...init });
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** Returns every page of a list, read as a client reads it. */
async function readAll<Page extends { items: unknown[]; nextCursor: string | null }>(
  schema: TSchema,
  path: (cursor: string) => string,
  tenant: Tenant,
): Promise<Page["items"]> {
  const items: Page["items"] = [];
  let cursor: string | null = null;
  do {
    const { body } = await get(path(cursor ?? ""), tenant);
    expect([...Value.Errors(schema, body)]).toEqual([]);
    // CAST: the schema was checked on the line above.
    const page = body as Page;
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return items;
}

function expectError(answer: Answer, status: number, error: object): void {
  expect(answer.status).toBe(status);
  expect([...Value.Errors(wire.ErrorResponse, answer.body)]).toEqual([]);
  expect(answer.body).toMatchObject({ error });
  expect(JSON.stringify(answer.body)).not.toMatch(/\\n| at \S+:\d|\.ts\b|select |postgres/);
}

describe("GET /deposit-addresses", () => {
  test("lists newest first, in pages without loss or repetition", async () => {
    const tenant = await createTenant(database.db);
    const inserted = [];
    for (let n = 0; n < 7; n += 1) inserted.push(await insertAddress(database.db, tenant));
    for (const limit of [1, 2, 3, 7, 100]) {
      const items = await readAll<wire.DepositAddressPage>(
        wire.DepositAddressPage,
        (cursor) => `/deposit-addresses?limit=${limit}${cursor && `&cursor=${cursor}`}`,
        tenant,
      );
      expect(items).toMatchObject(inserted.toReversed().map(({ id }) => ({ id })));
    }
  });

  test("has no next cursor when the page ends with the last item", async () => {
    const tenant = await createTenant(database.db);
    expect((await get("/deposit-addresses", tenant)).body).toEqual({ items: [], nextCursor: null });
    const { wallet } = await insertAddress(database.db, tenant);
    const { body, headers } = await get("/deposit-addresses?limit=1", tenant);
    expect(body).toMatchObject({
      items: [{ walletAddress: toChecksumAddress(wallet), destChain: "30", chainType: "evm" }],
      nextCursor: null,
    });
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test("includes the earlier millisecond for a cursor between two", async () => {
    const tenant = await createTenant(database.db);
    await insertAddress(database.db, tenant);
    const { body } = await get("/deposit-addresses", tenant);
    const stamp = Value.Parse(wire.DepositAddressPage, body).items[0]?.createdAt ?? "";
    const later = stamp.replace("Z", "5Z");
    expect((await get(`/deposit-addresses?cursor=${later}`, tenant)).body).toMatchObject({
      items: [{ createdAt: stamp }],
    });
    expect((await get(`/deposit-addresses?cursor=${stamp}`, tenant)).body).toMatchObject({
      items: [],
    });
  });
});

describe("GET /swaps", () => {
  test("shows every field, with null for missing values", async () => {
    const tenant = await createTenant(database.db);
    const address = await insertAddress(database.db, tenant);
    const swapTxHash = createHex(32);
    const failing = { code: "RPC_UNAVAILABLE", retryable: true, details: { reason: "timeout" } };
    await insertSettlement(database.db, tenant, address, {
      amount: 2n ** 256n - 1n,
      swapTxHash,
    });
    await insertSettlement(database.db, tenant, address, {
      status: "dead",
      error: { code: "UNSUPPORTED_DEST", retryable: false },
    });
    await insertSettlement(database.db, tenant, address, {
      status: "failed_swap",
      amount: null,
      error: failing,
    });
    const items = await readAll<wire.SwapPage>(
      wire.SwapPage,
      (cursor) => `/swaps?limit=2${cursor && `&cursor=${cursor}`}`,
      tenant,
    );
    const message = "It went wrong.";
    const walletAddress = toChecksumAddress(address.wallet);
    expect(items).toMatchObject([
      {
        status: "failed_swap",
        phase: "swap",
        category: "retrying",
        terminal: false,
        amount: null,
        swapTxHash: null,
        error: { ...failing, message },
        walletAddress,
        destChain: "30",
      },
      {
        status: "dead",
        category: "failed",
        terminal: true,
        error: { code: "UNSUPPORTED_DEST", message, retryable: false },
      },
      {
        status: "completed",
        phase: "done",
        category: "success",
        terminal: true,
        amount: (2n ** 256n - 1n).toString(),
        swapTxHash,
        error: null,
      },
    ]);
  });
});

describe("GET /events", () => {
  test("replays all events in order, in pages of any size, and filters them", async () => {
    const tenant = await createTenant(database.db);
    const id = createHex(16).slice(2);
    const uuid = `${id.slice(0, 8)}-${id.slice(8, 12)}-${id.slice(12, 16)}-${id.slice(16, 20)}-${id.slice(20)}`;
    for (let n = 1; n <= 5; n += 1) await insertEvent(database.db, tenant, n);
    await insertStatusEvent(database.db, tenant, uuid);
    for (const limit of [1, 4, 6, 200]) {
      const items = await readAll<wire.EventPage>(
        wire.EventPage,
        (since) => `/events?limit=${limit}${since && `&since=${since}`}`,
        tenant,
      );
      expect(items).toHaveLength(6);
      expect(items).toMatchObject([
        ...[1, 2, 3, 4, 5].map((chainId) => ({ data: { chainId, queued: true } })),
        {
          type: "status_changed",
          data: { queueItemId: uuid, txHash: null, error: { details: { reason: "fetch failed" } } },
        },
      ]);
    }
    const filtered = await get("/events?type=status_changed", tenant);
    expect(filtered.body).toMatchObject({
      items: [{ type: "status_changed" }],
      nextCursor: null,
    });
  });
});

describe("public lists", () => {
  test("GET /chains lists the whole registry without a key", async () => {
    const { status, body } = await get("/chains");
    expect(status).toBe(200);
    expect([...Value.Errors(wire.ChainList, body)]).toEqual([]);
    expect(body).toHaveLength(13);
    expect(body).toContainEqual({
      chainId: 30,
      name: "base",
      kind: "evm",
      explorerTxUrl: "https://basescan.org/tx/",
    });
  });

  test("GET /source-config lists scanned tokens, without a minimum where none is configured", async () => {
    const { body } = await get("/source-config");
    expect([...Value.Errors(wire.SourceConfig, body)]).toEqual([]);
    const shared = { standard: "erc20" };
    const dai = { address: toChecksumAddress(`0x${"ab".repeat(20)}`), symbol: "DAI", decimals: 18 };
    expect(body).toEqual({
      chains: [
        {
          chainId: 30,
          name: "base",
          kind: "evm",
          tokens: [
            { ...shared, address: USDC, symbol: "USDC", decimals: 6, minDeposit: "0.50" },
            { ...shared, ...dai },
          ],
        },
      ],
    });
  });
});

const KEYED = ["/deposit-addresses", "/swaps", "/events"];

describe("keys", () => {
  test.each(KEYED)(
    "%s refuses a missing key with 401 and an invalid one with 403",
    async (path) => {
      expectError(await get(path), 401, { code: "UNAUTHORIZED", retryable: false });
      for (const key of ["", "no-uuid", "0b5e0a4e-6f3c-4a53-9d7a-2f9f0a3f6c11"]) {
        const answer = await get(`${path}?limit=x`, undefined, { headers: { "x-api-key": key } });
        expectError(answer, key === "" ? 401 : 403, {});
      }
      const twice = [
        ["x-api-key", alice.apiKey],
        ["x-api-key", bob.apiKey],
      ] satisfies [string, string][];
      expectError(await get(path, undefined, { headers: twice }), 403, { code: "FORBIDDEN" });
      expectError(await get(`${path}?apiKey=${alice.apiKey}`), 401, { code: "UNAUTHORIZED" });
    },
  );

  test("two integrators never see each other's rows [T86]", async () => {
    for (const tenant of [alice, bob]) {
      const address = await insertAddress(database.db, tenant);
      await insertSettlement(database.db, tenant, address);
      await insertEvent(database.db, tenant, tenant === alice ? 1 : 2);
    }
    for (const path of KEYED) {
      const [ofAlice, ofBob] = await Promise.all([get(path, alice), get(path, bob)]);
      expect(ofAlice.body).toMatchObject({ items: [expect.anything()] });
      expect(ofBob.body).toMatchObject({ items: [expect.anything()] });
      const ids = new Set(JSON.stringify(ofAlice.body).match(/"id":"[^"]+"/g));
      for (const id of JSON.stringify(ofBob.body).match(/"id":"[^"]+"/g) ?? []) {
        expect(ids.has(id)).toBe(false);
      }
    }
  });
});

describe("bad parameters", () => {
  const limits = ["0", "-1", "1.5", "1e1", "0x1", "", "%201", "+1", "NaN", "99999999999999999999"];
  const times = ["", "x", "0", "2026-02-30", "0000-01-01", "9999-12-31T23:59:59-01:00", "%00"];
  const cases = [
    ...["/deposit-addresses", "/swaps"].flatMap((path) => [
      ...[...limits, "101"].map((value) => [path, "limit", value] as const),
      ...times.map((value) => [path, "cursor", value] as const),
    ]),
    ...[...limits, "201"].map((value) => ["/events", "limit", value] as const),
    ...times.map((value) => ["/events", "since", value] as const),
    ...["", "x", "STATUS_CHANGED"].map((value) => ["/events", "type", value] as const),
  ];

  test.each(cases)("%s refuses %s=%s [T92]", async (path, field, value) => {
    const answer = await get(`${path}?${field}=${value}`, alice);
    expectError(answer, 400, { code: "VALIDATION_ERROR", retryable: false, details: { field } });
  });

  test.each([
    ["/swaps", "limit", "limit=1&limit=1"],
    ["/swaps", "cursor", "cursor=2026-01-01&cursor=2026-01-01"],
    ["/events", "since", "since=2026-01-01&since=2026-01-01"],
    ["/events", "type", "type=status_changed&type=status_changed"],
  ])("%s refuses %s given twice [T92]", async (path, field, query) => {
    const answer = await get(`${path}?${query}`, alice);
    expectError(answer, 400, { code: "VALIDATION_ERROR", details: { field } });
  });

  test("unknown parameters are ignored, also given twice", async () => {
    const { status } = await get("/swaps?limit=01&x=1&x=2&__proto__=1&toString=1", alice);
    expect(status).toBe(200);
  });
});

describe("POST /request-index", () => {
  const post = (body: unknown, tenant?: Tenant) =>
    get("/request-index", undefined, {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: {
        "content-type": "application/json",
        ...(tenant ? { "x-api-key": tenant.apiKey } : {}),
      },
    });
  const TOKEN = toChecksumAddress(toEvmAddress(USDC));

  test("echoes the request and passes on its meaning", async () => {
    const { wallet } = await insertAddress(database.db, alice);
    for (const [tokenAddress, token] of [
      [TOKEN, TOKEN.toLowerCase()],
      [TOKEN.toLowerCase(), TOKEN.toLowerCase()],
      ["native", NATIVE_TOKEN],
      [NATIVE_TOKEN, NATIVE_TOKEN],
    ] as const) {
      const walletAddress = toChecksumAddress(wallet);
      const answer = await post({ walletAddress, tokenAddress, chain: 30 }, alice);
      expect([...Value.Errors(wire.RequestIndexResponse, answer.body)]).toEqual([]);
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({
        chainId: 30,
        walletAddress,
        tokenAddress,
        queued: false,
        queueItemId: null,
        reason: "below_min",
      });
      expect(asked.at(-1)).toMatchObject({ chainId: 30, token, address: { wallet } });
    }
  });

  test("answers for another integrator's wallet as for an unknown one [I2]", async () => {
    const { wallet } = await insertAddress(database.db, bob);
    const body = (walletAddress: string) => ({ walletAddress, tokenAddress: "native", chain: 30 });
    const foreign = await post(body(toChecksumAddress(wallet)), alice);
    const unknown = await post(body(`0x${"77".repeat(20)}`), alice);
    expectError(foreign, 404, { code: "NOT_FOUND", retryable: false });
    expect(foreign.body).toEqual(unknown.body);
    expect([...foreign.headers.keys()]).toEqual([...unknown.headers.keys()]);
  });

  test("checks the key before the body, and the chain before the wallet", async () => {
    expectError(await post("{"), 401, { code: "UNAUTHORIZED" });
    expectError(await post("{", alice), 400, { code: "VALIDATION_ERROR" });
    const body = { walletAddress: `0x${"77".repeat(20)}`, tokenAddress: "native", chain: 2 };
    expectError(await post(body, alice), 400, { code: "UNSUPPORTED_CHAIN" });
    expectError(await post({ ...body, chain: 999 }, alice), 400, { code: "UNSUPPORTED_CHAIN" });
  });

  test("checks the chain before an address of another chain family", async () => {
    const solana = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";
    const body = { walletAddress: solana, tokenAddress: solana, chain: 1 };
    expectError(await post(body, alice), 400, {
      code: "UNSUPPORTED_CHAIN",
      details: { field: "chain" },
    });
  });

  test.each([
    ["walletAddress", { tokenAddress: "native", chain: 30 }],
    ["walletAddress", { walletAddress: 7, tokenAddress: "native", chain: 30 }],
    ["walletAddress", { walletAddress: "0x12", tokenAddress: "native", chain: 30 }],
    ["walletAddress", { walletAddress: `0x${"Ab".repeat(20)}`, tokenAddress: "native", chain: 30 }],
    ["tokenAddress", { walletAddress: TOKEN, chain: 30 }],
    ["tokenAddress", { walletAddress: TOKEN, tokenAddress: "Native", chain: 30 }],
    ["tokenAddress", { walletAddress: TOKEN, tokenAddress: ["native"], chain: 30 }],
    ["chain", { walletAddress: TOKEN, tokenAddress: "native" }],
    ["chain", { walletAddress: TOKEN, tokenAddress: "native", chain: "2" }],
    ["chain", { walletAddress: TOKEN, tokenAddress: "native", chain: 2.5 }],
    ["body", [1]],
    ["body", "null"],
  ])("names %s when the body is %j", async (field, body) => {
    expectError(await post(body, alice), 400, { code: "VALIDATION_ERROR", details: { field } });
  });

  test("refuses a body that is too large or not JSON [T94]", async () => {
    expectError(await post({ walletAddress: "0".repeat(70_000) }, alice), 413, {
      code: "VALIDATION_ERROR",
    });
    const answer = await get("/request-index", undefined, {
      method: "POST",
      body: "<xml/>",
      headers: { "content-type": "text/xml", "x-api-key": alice.apiKey },
    });
    expectError(answer, 415, { code: "VALIDATION_ERROR" });
  });

  test("refuses other methods", async () => {
    const answer = await get("/request-index", alice);
    expectError(answer, 405, { code: "VALIDATION_ERROR" });
    expect(answer.headers.get("allow")).toBe("POST");
  });
});

describe("other requests", () => {
  test.each(["/swap", "/swaps/", "/swaps/1", "//swaps", "/SWAPS"])(
    "GET %s is not found",
    async (path) => {
      expectError(await get(path, alice), 404, { code: "NOT_FOUND" });
    },
  );

  test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])(
    "%s on a read-only path is refused with 405 before the key and body are checked",
    async (method) => {
      const id = crypto.randomUUID();
      for (const path of [...KEYED, "/chains", "/source-config", `/swaps/${id}`]) {
        const body = method === "OPTIONS" ? null : "<xml/>";
        const headers = { "content-type": "text/xml" };
        const answer = await get(path, undefined, { method, body, headers });
        expectError(answer, 405, { code: "VALIDATION_ERROR", details: { field: "method" } });
        expect(answer.headers.get("allow")).toBe("GET");
      }
    },
  );

  test("an unknown path is not found, with any body", async () => {
    const headers = { "content-type": "text/xml" };
    const answer = await get("/nothing", undefined, { method: "POST", body: "<xml/>", headers });
    expectError(answer, 404, { code: "NOT_FOUND" });
  });

  test.each(["/swaps", "/deposit-addresses"])("%s accepts an id of any length", async (list) => {
    const path = `${list}/${"a".repeat(8_000)}`;
    expectError(await get(path, undefined), 401, { code: "UNAUTHORIZED" });
    expectError(await get(path, alice), 404, { code: "NOT_FOUND" });
  });

  test("a path that cannot be decoded is refused with the interface's error object", async () => {
    expectError(await get("/%zz", alice), 400, { code: "VALIDATION_ERROR" });
  });

  test("bytes that are not HTTP are refused with the interface's error object", async () => {
    const { port } = new URL(api.url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.end("NO HTTP\r\n\r\n");
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    const [head = "", body = ""] = text.split("\r\n\r\n");
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    expect([...Value.Errors(wire.ErrorResponse, JSON.parse(body))]).toEqual([]);
  });

  test("an internal error reveals no detail [T101]", async () => {
    const broken = await createTestDatabase();
    const failing = await startApi({ db: broken.db });
    await broken.pool.query("drop table api_keys cascade");
    const response = await fetch(`${failing.url}/swaps`, {
      headers: { "x-api-key": alice.apiKey },
    });
    expect(response.status).toBe(500);
    expect(await response.json()).toEqual({
      error: {
        code: "INTERNAL",
        message: "Something went wrong on our side.",
        retryable: true,
      },
    });
    await failing.close();
    await broken.drop();
  });

  test("HEAD answers as GET does, without a body", async () => {
    const response = await fetch(`${api.url}/chains`, { method: "HEAD" });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("");
  });
});
