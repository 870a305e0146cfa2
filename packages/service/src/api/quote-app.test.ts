import { PassThrough } from "node:stream";
import { pino } from "pino";
import { Value } from "typebox/value";
import { createOpenApi } from "@sluice/sdk/reference";
import * as wire from "@sluice/sdk/wire";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  createGenerousPlaces,
  createTestKeys,
  createTestUses,
  SERVED_BY,
} from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant, PEPPER, type Tenant, USDC } from "../../test/support/tenants.ts";
import { OperatingError } from "../core/errors.ts";
import type { Principal } from "../integrators/index.ts";
import { createCapacity } from "./capacity.ts";
import { createRateLimiter } from "./rate-limits.ts";
import { systemClock, systemRandom } from "../roles/system-ports.ts";
import { createNodeMeter } from "../roles/node-meter.ts";
import { createQuoteApp } from "./quote-app.ts";

const REQUEST = {
  amountIn64: "1000000",
  fromChain: "ethereum",
  fromToken: USDC,
  toChain: "base",
  toToken: USDC,
  slippageBps: "auto",
};
const RESPONSE: wire.QuoteResponse = { quotes: [], minimumSdkVersion: [7, 0, 0] };

let database: TestDatabase;
let app: ReturnType<typeof createQuoteApp>;
let url: string;
let tenant: Tenant;
let logged = "";
let asked: [wire.QuoteRequest, Principal][] = [];
let answer: () => Promise<wire.QuoteResponse> = async () => RESPONSE;

beforeAll(async () => {
  database = await createTestDatabase();
  const sink = new PassThrough().on("data", (chunk) => (logged += String(chunk)));
  app = createQuoteApp({
    nodeMeter: createNodeMeter(),
    random: systemRandom,
    db: database.db,
    pepper: PEPPER,
    clock: systemClock,
    log: pino({ level: "trace" }, sink),
    atOnce: createGenerousPlaces(),
    capacity: createCapacity(systemClock),
    keys: createTestKeys(),
    uses: createTestUses(database.db),
    limiter: createRateLimiter({
      perKey: 100_000,
      perAddress: 100_000,
      wrongKeyPerAddress: 100_000,
      requestIndexPerKey: 1,
      newAddressesPerKey: 1,
      nodeRequestsPerKey: 1,
    }),
    trustedProxies: [],
    corsOrigins: [],
    describeService: () => SERVED_BY,
    issueMany: () => Promise.reject(new Error("no test issues addresses here")),
    quote(...args) {
      asked.push(args);
      return answer();
    },
  });
  url = await app.listen({ host: "127.0.0.1", port: 0 });
  tenant = await createTenant(database.db, false);
});
afterAll(async () => {
  await app.close();
  await database.drop();
});
beforeEach(() => {
  asked = [];
  answer = async () => RESPONSE;
});

async function post(body: unknown, query = `apiKey=${tenant.apiKey}`, init: RequestInit = {}) {
  const response = await fetch(`${url}/v3/quote?${query}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init,
  });
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  // CAST: each test reads only the fields that it expects.
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Checks that clients of the interface and of the quote service can read an error. */
function expectError(
  answered: { readonly status: number; readonly body: Record<string, unknown> },
  status: number,
  error: Record<string, unknown>,
): void {
  const { body } = answered;
  expect(answered.status).toBe(status);
  expect([...Value.Errors(wire.QuoteErrorResponse, body)]).toEqual([]);
  expect(Object.keys(body).sort()).toEqual(Object.keys(wire.QuoteErrorResponse.properties).sort());
  expect(body).toMatchObject({ error, code: error.code, statusCode: status });
  expect(body.msg).toEqual(expect.stringMatching(/./));
  expect(body.message).toBe(body.msg);
  expect(asked).toEqual([]);
}

describe("POST /v3/quote", () => {
  test("leads from / to the description of the interface, without a key", async () => {
    const page = await fetch(`${url}/`);
    expect([page.status, page.url]).toEqual([200, `${url}/docs`]);
    expect(await page.text()).toContain("/v3/quote");
    const openApi = await fetch(`${url}/openapi.json`);
    expect(await openApi.json()).toEqual(createOpenApi(SERVED_BY));
  });

  test("passes on the request and its integrator, without unknown fields", async () => {
    const answered = await post({ ...REQUEST, payDeposit: true, other: { deep: 1 } });
    expect(answered).toEqual({ status: 200, body: RESPONSE });
    expect(asked).toMatchObject([
      [REQUEST, { integratorId: tenant.id, keyId: tenant.keyId, depositAddresses: false }],
    ]);
  });

  test("refuses a missing key with 401 and an invalid one with 403, before the body", async () => {
    for (const body of [REQUEST, "{", ""]) {
      expectError(await post(body, ""), 401, {
        code: "UNAUTHORIZED",
        message: "An API key is required in the query parameter apiKey.",
      });
      expectError(await post(body, "apiKey="), 401, { code: "UNAUTHORIZED" });
      expectError(await post(body, "apiKey=x"), 403, { code: "FORBIDDEN" });
      const twice = `apiKey=${tenant.apiKey}&apiKey=${tenant.apiKey}`;
      expectError(await post(body, twice), 403, { code: "FORBIDDEN" });
    }
  });

  test("takes the key from the header too, and that of the query first", async () => {
    const headers = { "x-api-key": tenant.apiKey, "content-type": "application/json" };
    expectError(await post(REQUEST, "apiKey=x", { headers }), 403, { code: "FORBIDDEN" });
    expect(await post(REQUEST, "", { headers })).toEqual({ status: 200, body: RESPONSE });
  });

  test.each([
    [{ payLabel: "till 4 🍋", payMetadata: { order: "17", note: "" } }],
    [{ payMetadata: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, "v"])) }],
  ])("passes on the notes of an address: %j", async (notes) => {
    expect((await post({ ...REQUEST, ...notes })).status).toBe(200);
    expect(asked).toMatchObject([[notes, {}]]);
  });

  test.each([
    ["fromChain", { fromChain: undefined }],
    ["fromChain", { fromChain: 1 }],
    ["toToken", { toToken: null }],
    ["amountIn64", { amountIn64: "-1" }],
    ["amountIn64", { amountIn64: 1 }],
    ["slippageBps", { slippageBps: "501" }],
    ["payDeposit", { payDeposit: "yes" }],
    ["swift", { swift: 2 }],
    ["swift", { swift: [true] }],
    ["amountIn64", { amountIn64: "1e18" }],
    ["amountIn", { amountIn: -1 }],
    ["amountIn", { amountIn: "1,5" }],
    ["amountIn", { amountIn: "NaN" }],
    ["amountIn", { amountIn: "1".repeat(500) }],
    ["slippageBps", { slippageBps: 501 }],
    ["slippageBps", { slippageBps: "1e2" }],
    ["slippageBps", { slippageBps: {} }],
    ["slippageBps", { slippageBps: -0.6 }],
    ["payUserId", { payUserId: "order-1" }],
    ["payLabel", { payLabel: "a\u0000b" }],
    ["payLabel", { payLabel: "x".repeat(201) }],
    ["payLabel", { payLabel: "\ud800" }],
    ["payMetadata", { payMetadata: [] }],
    ["payMetadata", { payMetadata: { a: 1 } }],
    ["payMetadata", { payMetadata: { a: "x".repeat(201) } }],
    ["payMetadata", { payMetadata: { ["k".repeat(41)]: "v" } }],
    ["payMetadata", { payMetadata: { a: "\ud800" } }],
    [
      "payMetadata",
      { payMetadata: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`k${n}`, "v"])) },
    ],
  ])("refuses a bad %s: %j", async (field, wrong) => {
    const answered = await post({ ...REQUEST, ...wrong });
    expectError(answered, 400, { code: "VALIDATION_ERROR", details: { field } });
  });

  test.each([
    [
      "amountIn",
      "many",
      "amountIn: expected the amount in whole tokens, a number of at least 0, such as 1.5.",
    ],
    [
      "amountIn64",
      1,
      'amountIn64: expected a whole number of base units as a string, such as "1000000".',
    ],
    ["swift", "perhaps", "swift: expected true or false."],
    ["slippageBps", "fast", 'slippageBps: expected "auto" or basis points, 0 to 500.'],
    ["toChain", 30, "toChain: expected the name of a chain, such as base."],
  ])("names the expected value of %s instead of %j", async (field, wrong, message) => {
    expect((await post({ ...REQUEST, [field]: wrong })).body).toMatchObject({ message });
  });

  test.each([
    [{ amountIn: 1e-7 }, { amountIn: 1e-7 }],
    [{ amountIn: "1.5e-7" }, { amountIn: "1.5e-7" }],
    [{ slippageBps: 0.29 * 100 }, { slippageBps: 29 }],
    [{ slippageBps: 7.000000000000001 }, { slippageBps: 7 }],
    [{ slippageBps: "50.0" }, { slippageBps: 50 }],
    [
      { swift: "TRUE", mctp: "False", fullList: 1, monoChain: "0" },
      { swift: true, mctp: false, fullList: true, monoChain: false },
    ],
    [{ mpsDeposit: "True" }, { payDeposit: true }],
    [{ mpsDeposit: true, payDeposit: null }, { payDeposit: true }],
    [{ sdkVersion: 15, gasDrop: "1e-7" }, { sdkVersion: "15" }],
  ])("accepts %j as clients mean it", async (sent, meant) => {
    expect((await post({ ...REQUEST, ...sent })).status).toBe(200);
    expect(asked[0]?.[0]).toMatchObject({ ...REQUEST, ...meant });
  });

  test("treats null, and an empty query parameter, as absent", async () => {
    const nothing = { referrer: null, destinationAddress: null, swift: null, slippageBps: null };
    expect((await post({ ...REQUEST, ...nothing })).status).toBe(200);
    const query = new URLSearchParams({
      ...REQUEST,
      apiKey: tenant.apiKey,
      referrer: "",
      swift: "",
    });
    expect((await fetch(`${url}/v3/quote?${query}`)).status).toBe(200);
    const { slippageBps: _, ...rest } = REQUEST;
    expect(asked.map(([request]) => request)).toEqual([
      rest,
      { ...REQUEST, apiKey: tenant.apiKey },
    ]);
  });

  test.each(["", "{", "[]", "null", "1", '"x"', '{"__proto__":{"a":1}}', "\u0000"])(
    "refuses the body %j [T94]",
    async (body) => {
      const answered = await post(body);
      expectError(answered, 400, { code: "VALIDATION_ERROR", details: { field: "body" } });
    },
  );

  test.each(Object.keys(wire.QuoteRequest.properties))(
    "names a valid value for %s",
    async (field) => {
      const answered = await post({ ...REQUEST, [field]: { toString: 1 } });
      const message = expect.stringMatching(
        new RegExp(`^${field}: expected (an? |the |true |"auto" |0x and )`),
      );
      expectError(answered, 400, { code: "VALIDATION_ERROR", message, details: { field } });
    },
  );

  test("refuses other content types with 415 and large bodies with 413 [T94]", async () => {
    for (const type of ["text/plain", "application/xml", "application/x-www-form-urlencoded"]) {
      const answered = await post("a=1", undefined, { headers: { "content-type": type } });
      expectError(answered, 415, { code: "VALIDATION_ERROR" });
    }
    const large = await post({ ...REQUEST, padding: "x".repeat(70_000) });
    expectError(large, 413, { code: "VALIDATION_ERROR" });
  });

  test("refuses other methods with 405 and other paths with 404", async () => {
    const put = await post("{}", undefined, { method: "PUT" });
    expectError(put, 405, { code: "VALIDATION_ERROR" });
    const elsewhere = await fetch(`${url}/v3/quotes`, { method: "POST" });
    expect(elsewhere.status).toBe(404);
    expect(await elsewhere.json()).toMatchObject({ code: "NOT_FOUND", statusCode: 404 });
  });

  test("answers an operating error with its status, and every other error with INTERNAL", async () => {
    answer = () => Promise.reject(new OperatingError("NO_ROUTE", "No route."));
    const noRoute = await post(REQUEST);
    asked = [];
    expectError(noRoute, 422, { code: "NO_ROUTE", retryable: true });
    answer = () => Promise.reject(new Error("the node http://node/canary is down"));
    const broken = await post(REQUEST);
    asked = [];
    expectError(broken, 500, { code: "INTERNAL", retryable: true });
    expect(JSON.stringify(broken.body)).not.toContain("canary");
  });

  test("logs failures but never a key [T89]", () => {
    expect(logged).toContain("request failed");
    expect(logged).not.toContain(tenant.apiKey);
  });
});

describe("GET /v3/quote", () => {
  test("accepts the same fields as text in the query", async () => {
    const query = new URLSearchParams({ ...REQUEST, payDeposit: "true", apiKey: tenant.apiKey });
    const response = await fetch(`${url}/v3/quote?${query}`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(RESPONSE);
    expect(asked[0]?.[0]).toMatchObject({ ...REQUEST, payDeposit: true });
  });

  test("issues nothing for a request of the headers alone", async () => {
    const query = new URLSearchParams({ ...REQUEST, apiKey: tenant.apiKey });
    const { status } = await fetch(`${url}/v3/quote?${query}`, { method: "HEAD" });
    expect(status).toBe(405);
    expect(asked).toEqual([]);
  });

  test("names a field that is missing or given twice", async () => {
    const ask = async (query: string) => {
      const response = await fetch(`${url}/v3/quote?apiKey=${tenant.apiKey}&${query}`);
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    const { fromToken: _, ...rest } = REQUEST;
    expectError(await ask(String(new URLSearchParams(rest))), 400, {
      code: "VALIDATION_ERROR",
      details: { field: "fromToken" },
    });
    const twice = `${String(new URLSearchParams(REQUEST))}&toChain=base`;
    expectError(await ask(twice), 400, {
      code: "VALIDATION_ERROR",
      details: { field: "toChain" },
    });
  });
});

describe("the spelling of some clients of the published interface", () => {
  const quoted = {
    type: "SWIFT",
    payDepositAddress: USDC,
    payUserId: `0x${"01".repeat(20)}`,
    payIntegratorId: "0b5e0a4e-6f3c-4a53-9d7a-2f9f0a3f6c11",
    secret: "nobody's business",
  };
  // CAST: the part of a quote that is needed for its names.
  const offer = async () => ({ ...RESPONSE, quotes: [quoted] }) as unknown as wire.QuoteResponse;

  test("is accepted, and echoed when used", async () => {
    answer = offer;
    const theirs = await post({ ...REQUEST, mpsDeposit: true, mpsUserId: quoted.payUserId });
    expect(asked[0]?.[0]).toMatchObject({ payDeposit: true, payUserId: quoted.payUserId });
    expect(theirs.body).toEqual({
      minimumSdkVersion: [7, 0, 0],
      quotes: [
        {
          type: "SWIFT",
          mpsDepositAddress: USDC,
          mpsUserId: quoted.payUserId,
          mpsIntegratorId: quoted.payIntegratorId,
        },
      ],
    });
  });

  test("is not echoed when unused, and ours takes precedence when both are given", async () => {
    await post({ ...REQUEST, payDeposit: false, mpsDeposit: true });
    expect(asked[0]?.[0]).toMatchObject({ payDeposit: false });
    const ours = await post({ ...REQUEST, payDeposit: true });
    expect(JSON.stringify(ours.body)).not.toContain("mps");
  });

  test("is validated as ours is, and named in the refusal", async () => {
    const refused = await post({ ...REQUEST, mpsUserId: "order-1" });
    expectError(refused, 400, {
      code: "VALIDATION_ERROR",
      message: "mpsUserId: expected 0x and hex digits whose value fits 20 bytes.",
      details: { field: "mpsUserId" },
    });
    answer = () =>
      Promise.reject(
        new OperatingError("VALIDATION_ERROR", "payUserId: expected another, and payment.", {
          details: { field: "payUserId" },
        }),
      );
    const later = await post({ ...REQUEST, mpsUserId: "0x1" });
    asked = [];
    expectError(later, 400, {
      code: "VALIDATION_ERROR",
      message: "mpsUserId: expected another, and payment.",
      details: { field: "mpsUserId" },
    });
    const both = await post({ ...REQUEST, payUserId: "0x1", mpsUserId: "0x1" });
    asked = [];
    expectError(both, 400, { code: "VALIDATION_ERROR", details: { field: "payUserId" } });
    const others = await post({ ...REQUEST, fromChain: 1, mpsDeposit: true });
    expectError(others, 400, { code: "VALIDATION_ERROR", details: { field: "fromChain" } });
  });

  test("works in a query", async () => {
    answer = offer;
    const query = new URLSearchParams({ ...REQUEST, mpsDeposit: "true", apiKey: tenant.apiKey });
    const response = await fetch(`${url}/v3/quote?${query}`);
    expect(await response.text()).toContain("mpsDepositAddress");
  });
});
