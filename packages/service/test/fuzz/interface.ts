/**
 * Threats E: every request, of any form, gets an answer of the interface: no 5xx, no other tenant's id, and no secret in an
 * answer or a log. Requests are generated from the wire's own schemas, valid and invalid.
 */
import { PassThrough } from "node:stream";
import {
  AddressesRequest,
  AddressRequest,
  ErrorObject,
  ErrorResponse,
  EXPORT_MEDIA,
  type Operation,
  OPERATIONS,
  QuoteErrorResponse,
  QuoteRequest,
  QuoteResponse,
} from "@sluice/sdk/wire";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import fc from "fast-check";
import { pino } from "pino";
import { io } from "socket.io-client";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createGenerousLimiter,
  createGenerousPlaces,
  createTestKeys,
  createTestUses,
  type RunningApi,
  SERVED_BY,
  startApi,
  startStream,
} from "../support/api.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { createSponsoredFees, createStrictChain } from "../support/doubles.ts";
import {
  createTenant,
  insertAddress,
  insertEvent,
  insertSettlement,
  PEPPER,
  type Tenant,
  USDC,
} from "../support/tenants.ts";
import { createCapacity } from "../../src/api/capacity.ts";
import { hashCommitment, predictWallet } from "../../src/chains/evm/commitment.ts";
import { toEvmAddress } from "../../src/core/hex.ts";
import { issueMany, quote as quoteRoutes, type QuoteDeps } from "../../src/quotes/index.ts";
import { addressFormat } from "../../src/roles/address-format.ts";
import { systemClock, systemRandom } from "../../src/roles/system-ports.ts";
import { createRouteBook, type Route } from "../../src/routes/index.ts";
import { createNodeMeter } from "../../src/roles/node-meter.ts";
import { createQuoteApp } from "../../src/api/quote-app.ts";

export interface FuzzOptions {
  readonly requests: number;
  /** A multiple of 5, the number of requests per connection. */
  readonly frames: number;
  /** Seed of the cases; a failure names it. */
  readonly seed: number;
}

const limiter = createGenerousLimiter();

let database: TestDatabase;
let apps: { service: RunningApi; quote: ReturnType<typeof createQuoteApp> };
let urls: { service: string; quote: string };
let alice: Tenant;
let bob: Tenant;
let aliceWallet = "";
let logged = "";
/** Ids and wallets of the other tenant. */
const secrets: string[] = [];
const log = pino(
  { level: "trace" },
  new PassThrough().on("data", (chunk) => (logged += String(chunk))),
);

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database;
  const service = await startApi({
    db,
    log,
    limiter,
    requestIndex: async () => ({ queued: false, reason: "below_min" }),
    scanned: [{ chainId: 2, name: "ethereum", kind: "evm", tokens: [] }],
  });
  const quote = createQuoteApp({
    nodeMeter: createNodeMeter(),
    random: systemRandom,
    db,
    pepper: PEPPER,
    clock: systemClock,
    log,
    atOnce: createGenerousPlaces(),
    capacity: createCapacity(systemClock),
    keys: createTestKeys(),
    uses: createTestUses(database.db),
    limiter,
    trustedProxies: [],
    corsOrigins: [],
    describeService: () => SERVED_BY,
    quote: (request, principal) => quoteRoutes(createQuoteDeps(), request, principal),
    issueMany: (request, principal) => issueMany(createQuoteDeps(), request, principal),
  });
  apps = { service, quote };
  urls = {
    service: service.url,
    quote: await quote.listen({ host: "127.0.0.1", port: 0 }),
  };
  alice = await createTenant(db);
  bob = await createTenant(db);
  for (const tenant of [alice, bob]) {
    const address = await insertAddress(db, tenant);
    if (tenant === alice) aliceWallet = address.wallet;
    else secrets.push(address.id, address.wallet.slice(2));
    for (let count = 0; count < 5; count += 1) {
      const id = await insertSettlement(db, tenant, address);
      if (tenant === bob) secrets.push(id);
      await insertEvent(db, tenant);
    }
  }
  secrets.push(bob.id, bob.keyId, bob.apiKey, alice.apiKey, PEPPER.reveal());
});
afterAll(async () => {
  await Promise.all([apps.service.close(), apps.quote.close()]);
  await database.drop();
});

/** Creates the real quotes, of one pair. */
function createQuoteDeps(): QuoteDeps {
  const address = toEvmAddress(USDC);
  const token = { address, symbol: "USDC", decimals: 6, minDeposit: 10n };
  const factory = toEvmAddress(`0x${"fa".repeat(20)}`);
  const chain = createStrictChain({
    chainId: 2,
    predictWallet: (commitment) => predictWallet(factory, commitment),
    hashCommitment,
    addresses: { walletRoot: factory, escrow: factory, delivery: factory },
  });
  const route: Partial<Route> = {
    kind: "SWIFT",
    contract: factory,
    pair: { srcChain: 2, srcToken: address, destChain: 30, destToken: address },
    decimalsIn: 6,
    decimalsOut: 6,
    etaSeconds: 30,
    quote: async (amount) => ({ fair: amount, amountOut: amount, minOut: amount }),
  };
  return {
    db: database.db,
    clock: systemClock,
    random: systemRandom,
    chains: new Map([2, 30].map((chainId) => [chainId, chain])),
    // CAST: a quote uses no other member of a route.
    routes: createRouteBook([route as Route]),
    fees: createSponsoredFees(10),
    tokens: [
      { ...token, chainId: 2, evmChainId: 1 },
      { ...token, chainId: 30, evmChainId: 8453 },
    ],
    evmChainIds: new Map([
      [2, 1],
      [30, 8453],
    ]),
    format: addressFormat,
    reserved: new Set([factory]),
    caps: { maxFeeBps: 50, maxSlippageBps: 100 },
  };
}

/** A request that is answered with an address. */
const QUOTE = {
  amountIn64: "1000000",
  fromChain: "ethereum",
  fromToken: USDC,
  toChain: "base",
  toToken: USDC,
  slippageBps: "auto",
  destinationAddress: `0x${"de".repeat(20)}`,
  payDeposit: true,
};

/** Values that people and attackers send in place of the expected one. */
const HOSTILE = [
  "",
  " ",
  "null",
  "undefined",
  "0",
  "-1",
  "1e309",
  "99999999999999999999",
  "' or '1'='1",
  "'; drop table events; --",
  "../../etc/passwd",
  "%00",
  "\u0000",
  "\u202e",
  "<script>alert(1)</script>",
  "${7*7}",
  "__proto__",
  "constructor",
  "[object Object]",
  "2026-02-30T00:00:00.000Z",
  "9999-12-31T23:59:59.999Z",
  "0000-00-00",
  "0x",
  `0x${"f".repeat(40)}`,
  "а".repeat(42),
  "x".repeat(5_000),
];

const hostile = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 20 }),
);

/** Returns a value that fits a schema, as far as its form tells, or one that does not. */
function valueOf(schema: TSchema | undefined): fc.Arbitrary<unknown> {
  const json: Readonly<Record<string, unknown>> = JSON.parse(JSON.stringify(schema ?? {}));
  const words = Array.isArray(json["enum"]) ? json["enum"] : undefined;
  const own: fc.Arbitrary<unknown>[] = [];
  if (words) own.push(fc.constantFrom(...words));
  if (json["type"] === "integer") own.push(fc.integer({ min: -1, max: 300 }));
  if (json["type"] === "boolean") own.push(fc.boolean());
  if (json["type"] === "string") {
    own.push(
      fc.constantFrom(
        "2026-01-01T00:00:00.000Z",
        USDC,
        aliceWallet,
        "native",
        "1000000",
        "ethereum",
        "base",
        "auto",
      ),
    );
  }
  return fc.oneof(...own, ...own, hostile, fc.jsonValue({ maxDepth: 2 }));
}

/** Returns members of an object schema, some omitted and some unknown. */
function objectOf(schema: TSchema | undefined): fc.Arbitrary<Record<string, unknown>> {
  const properties: Readonly<Record<string, TSchema>> =
    // CAST: queries and bodies are objects.
    (schema as { properties?: Readonly<Record<string, TSchema>> } | undefined)?.properties ?? {};
  return fc
    .tuple(
      fc.record(
        Object.fromEntries(
          Object.entries(properties).map(([name, member]) => [name, valueOf(member)]),
        ),
        { requiredKeys: [] },
      ),
      fc.dictionary(fc.constantFrom("__proto__", "limit", "x", "constructor", "apiKey"), hostile, {
        maxKeys: 1,
      }),
    )
    .map(([known, unknown]) => ({ ...known, ...unknown }));
}

/** As above; for quotes, which need many members, mostly a valid one with one or two changes. */
function requestOf(schema: TSchema | undefined): fc.Arbitrary<Record<string, unknown>> {
  if (schema === AddressesRequest) return addressesOf();
  if (schema !== QuoteRequest) return objectOf(schema);
  const names = fc.shuffledSubarray(Object.keys(QuoteRequest.properties), { maxLength: 2 });
  // Valid requests that no route takes, so that refusals with a reason are met in every run.
  const refused = fc.oneof(
    { weight: 10, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.constantFrom({ amountIn64: "1" }, { toChain: "ethereum" }) },
  );
  const spelling = fc.oneof(
    { weight: 3, arbitrary: fc.constant("pay") },
    { weight: 1, arbitrary: fc.constant("mps") },
  );
  const changed = fc
    .tuple(objectOf(schema), names, refused, spelling)
    .map(([members, chosen, terms, prefix]) => ({
      ...respell(QUOTE, prefix),
      ...terms,
      ...Object.fromEntries(Object.entries(members).filter(([name]) => chosen.includes(name))),
    }));
  return fc.oneof(objectOf(schema), { weight: 4, arbitrary: changed });
}

/** Requests for addresses: mostly valid ones with changed members. */
function addressesOf(): fc.Arbitrary<Record<string, unknown>> {
  const { fromChain, toChain, toToken, destinationAddress } = QUOTE;
  const address = fc
    .record({ members: objectOf(AddressRequest), isChanged: fc.boolean() })
    .map(({ members, isChanged }) => ({
      fromChain,
      toChain,
      toToken,
      destinationAddress,
      ...(isChanged ? members : {}),
    }));
  return fc.oneof(
    objectOf(AddressesRequest),
    fc.array(address, { maxLength: 3 }).map((addresses) => ({ addresses })),
  );
}

function respell(fields: object, prefix: string): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name.replace(/^pay(?=[A-Z])/, prefix), value]),
  );
}

const key = fc.oneof(
  { weight: 6, arbitrary: fc.constant("alice") },
  { weight: 1, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constant("0b5e0a4e-6f3c-4a53-9d7a-2f9f0a3f6c11") },
  { weight: 1, arbitrary: hostile },
);

const isWebhook = ({ path }: Operation) => path.startsWith("/webhooks");
/** The many operations of webhooks leave the others their share, and so do those of the service the quotes. */
const operations = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...OPERATIONS.filter((one) => !isWebhook(one))) },
  { weight: 1, arbitrary: fc.constantFrom(...OPERATIONS.filter(isWebhook)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(...OPERATIONS.filter(({ server }) => server === "quote")),
  },
);

const asked = operations.chain((operation) =>
  fc.record({
    operation: fc.constant(operation),
    method: fc.oneof(
      { weight: 9, arbitrary: fc.constant<string>(operation.method) },
      { weight: 1, arbitrary: fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS") },
    ),
    id: fc.oneof(fc.uuid(), fc.constantFrom("bob's", ...HOSTILE.slice(0, 15))),
    query: requestOf(operation.query),
    body: fc.oneof(
      { weight: 6, arbitrary: requestOf(operation.body).map((body) => JSON.stringify(body)) },
      { weight: 1, arbitrary: hostile },
      { weight: 1, arbitrary: fc.json() },
    ),
    contentType: fc.oneof(
      { weight: 9, arbitrary: fc.constant("application/json") },
      {
        weight: 1,
        arbitrary: fc.constantFrom("text/plain", "application/xml", "multipart/form-data"),
      },
    ),
    key,
  }),
);

function send(request: typeof asked extends fc.Arbitrary<infer T> ? T : never): Promise<Response> {
  const { operation, method, query, body, contentType } = request;
  const apiKey = request.key === "alice" ? alice.apiKey : request.key;
  const id = request.id === "bob's" ? (secrets[2] ?? "") : request.id;
  const path = operation.path.replaceAll(/\{\w+\}/g, encodeURIComponent(id));
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    params.append(name, typeof value === "string" ? value : (JSON.stringify(value) ?? ""));
  }
  const headers: Record<string, string> = {};
  if (apiKey !== undefined) {
    // A header is one line of bytes; a value that cannot be sent is skipped.
    if (operation.key === "header") headers["x-api-key"] = encodeURIComponent(apiKey);
    if (operation.key === "query") params.set("apiKey", apiKey);
  }
  const hasBody = method !== "GET";
  if (hasBody) headers["content-type"] = contentType;
  return fetch(`${urls[operation.server]}${path}?${params}`, {
    method,
    headers,
    ...(hasBody ? { body } : {}),
  });
}

/** Checks an export: lines of the operation's schema where they are JSON, and no secret in any. */
function expectLines(
  { response }: Operation,
  { type, text }: { readonly type: string | null; readonly text: string },
): void {
  expect(Object.values(EXPORT_MEDIA)).toContain(type);
  for (const secret of secrets) expect(text).not.toContain(secret);
  const lines = type === EXPORT_MEDIA.jsonl ? text.split("\n").slice(0, -1) : [];
  for (const line of lines) {
    expect([...Value.Errors(response, JSON.parse(line))]).toEqual([]);
  }
}

/** Defines the tests of a file, with the given number of cases. */
export function testFuzzedInterface({ requests, frames, seed }: FuzzOptions): void {
  test(`${requests} requests: every answer is one of the interface, and says nothing of others [T184]`, async () => {
    let answers = 0;
    let addresses = 0;
    let theirs = 0;
    const documented = await readDocument();
    const statuses = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(asked, async (request) => {
        const response = await send(request);
        answers += 1;
        const text = await response.text();
        const { status } = response;
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        expect(status).toBeLessThan(500);
        const { operation, method } = request;
        if (status === 200 && operation.lines && method === "GET") {
          return expectLines(operation, { type: response.headers.get("content-type"), text });
        }
        expect(response.headers.get("content-type")).toMatch(/^application\/json/);
        const body: unknown = JSON.parse(text);
        const refusal = request.operation.server === "quote" ? QuoteErrorResponse : ErrorResponse;
        const isTheirs = status === 200 && text.includes('"mpsIntegratorId"');
        const schema = status === 200 ? answerOf(request.operation, request.method) : refusal;
        // The document has a schema of its own for the other prefix.
        expect(isTheirs ? [] : [...Value.Errors(schema, body)]).toEqual([]);
        theirs += isTheirs ? 1 : 0;
        documented.expect(request, { status, body });
        for (const secret of secrets) expect(text).not.toContain(secret);
        if (schema === QuoteResponse && text.includes('"payDepositAddress":"0x')) addresses += 1;
      }),
      { seed, numRuns: requests, endOnFailure: true },
    );
    expect(answers).toBe(requests);
    // Coverage: successes, and every refusal that this many requests are sure to meet.
    const rare = requests < 5_000 ? [] : [405, 415, 422];
    for (const status of [200, 400, 401, 403, 404, ...rare]) {
      expect(statuses.get(status) ?? 0).toBeGreaterThan(0);
    }
    expect(addresses).toBeGreaterThan(requests / 100);
    expect(theirs).toBeGreaterThan(0);
    // Answers of documented operations with the statuses that they document; the others were refused methods.
    expect(documented.count).toBeGreaterThan(requests / 2);
    for (const secret of secrets) expect(logged).not.toContain(secret);
  }, 240_000);

  test(`${frames} frames on the stream: none gets through, and it serves who behaves`, async () => {
    const stream = await startStream({ db: database.db, log, limiter });
    const frame = fc.oneof(
      hostile,
      fc.json(),
      fc
        .tuple(
          fc.constantFrom("0", "1", "2", "3", "4", "40", "41", "42", "43", "45", "451-", "9"),
          fc.json(),
        )
        .map(([type, data]) => type + data),
      fc.uint8Array({ maxLength: 64 }),
    );
    let sent = 0;
    let greetings = 0;
    let expected = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(frame, { minLength: 5, maxLength: 5 }),
        fc.boolean(),
        async (five, knows) => {
          const query = knows ? `&apiKey=${alice.apiKey}` : "";
          const socket = new WebSocket(
            `ws://127.0.0.1:${stream.port}/socket.io/?EIO=4&transport=websocket${query}`,
          );
          const heard: string[] = [];
          const closed = new Promise((resolve) => socket.addEventListener("close", resolve));
          const greeted = new Promise<void>((resolve) =>
            socket.addEventListener("message", ({ data }) => {
              heard.push(String(data));
              if (String(data).startsWith('42["connected"')) resolve();
            }),
          );
          await new Promise((resolve) => socket.addEventListener("open", resolve));
          if (knows) {
            socket.send("40");
            await Promise.race([greeted, closed]);
          }
          for (const one of five) {
            if (socket.readyState === WebSocket.OPEN) socket.send(one);
            sent += 1;
          }
          socket.close();
          await closed;
          greetings += heard.filter((text) => text.startsWith("42")).length;
          expected += knows ? 1 : 0;
          expect(heard.filter((text) => !isOfTheStream(text))).toEqual([]);
          for (const secret of secrets) expect(heard.join()).not.toContain(secret);
        },
      ),
      { seed, numRuns: frames / 5, endOnFailure: true },
    );
    expect(sent).toBe(frames);
    expect(expected).toBeGreaterThan(frames / 50);
    expect(greetings).toBe(expected);
    const client = io(stream.url, {
      transports: ["websocket"],
      auth: { apiKey: alice.apiKey },
    });
    const greeting = await new Promise((resolve) => client.once("connected", resolve));
    expect(greeting).toEqual({ integratorName: alice.name });
    client.disconnect();
    await stream.close();
    for (const secret of secrets) expect(logged).not.toContain(secret);
  }, 60_000);
}

/** Reads the served description, which holds an answer of an operation against it. */
async function readDocument() {
  const document: {
    readonly components: object;
    readonly paths: Readonly<
      Record<
        string,
        Readonly<Record<string, { readonly responses: Readonly<Record<string, object>> }>>
      >
    >;
  } = JSON.parse(await (await fetch(`${urls.service}/openapi.json`)).text());
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: "https://document.example/", components: document.components });
  const compiled = new Map<string, ValidateFunction>();
  let count = 0;

  function compile(name: string, response: object): ValidateFunction {
    const known = compiled.get(name);
    if (known) return known;
    const text = JSON.stringify(response).replaceAll('"#/', '"https://document.example/#/');
    const made = ajv.compile(JSON.parse(text).content["application/json"].schema);
    compiled.set(name, made);
    return made;
  }

  return {
    get count() {
      return count;
    },
    expect(
      { operation, method }: { readonly operation: Operation; readonly method: string },
      { status, body }: { readonly status: number; readonly body: unknown },
    ): void {
      const described = document.paths[operation.path]?.[method.toLowerCase()];
      // A method that is not described is refused, or the id made another path of it.
      if (!described) return expect([404, 405]).toContain(status);
      const response = described.responses[status];
      const name = `${method} ${operation.path} ${status}`;
      if (!response) throw new Error(`${name} is not described`);
      const check = compile(name, response);
      check(body);
      expect([name, check.errors ?? []]).toEqual([name, []]);
      count += 1;
    },
  };
}

function answerOf(operation: Operation, method: string): TSchema {
  const found = OPERATIONS.find((one) => one.path === operation.path && one.method === method);
  if (found) return found.response;
  throw new Error(`${method} ${operation.path} is no endpoint and answered with success`);
}

/** Returns whether the stream may send a frame: handshake, greeting, refusal, ping or close. */
function isOfTheStream(text: string): boolean {
  if (!text.startsWith("44")) {
    const greeting = JSON.stringify(["connected", { integratorName: alice.name }]);
    return text === `42${greeting}` || /^(0\{.*|40.*|41.*|2)$/.test(text);
  }
  const refusal: { message: string; data?: unknown } = JSON.parse(text.slice(text.indexOf("{")));
  if (refusal.data === undefined) return refusal.message === "Invalid namespace";
  return Value.Check(ErrorObject, refusal.data);
}
