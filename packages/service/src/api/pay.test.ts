/** Pay links, and the page's data by their tokens. */
import { get as httpGet } from "node:http";
import {
  ChainList,
  ErrorResponse,
  PAY_SETTLEMENTS_MAX,
  PayLinkWithToken,
  PayStatus,
  PayTerms,
} from "@sluice/sdk/wire";
import { sql } from "kysely";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestApi } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import {
  createHex,
  createTenant,
  insertAddress,
  insertSettlement,
  type Tenant,
  USDC,
} from "../../test/support/tenants.ts";
import { toEvmAddress } from "../core/hex.ts";
import { systemRandom } from "../roles/system-ports.ts";

const PAYABLE = {
  chainId: 2,
  evmChainId: 1,
  address: toEvmAddress(USDC),
  symbol: "USDC",
  decimals: 6,
  minDeposit: 5_000_000n,
  etaSeconds: 20,
};

let database: TestDatabase;
let app: ReturnType<typeof createTestApi>;
let url: string;
let alice: Tenant;
let bob: Tenant;

beforeAll(async () => {
  database = await createTestDatabase();
  app = createTestApi({
    db: database.db,
    pay: {
      tokens: [PAYABLE, { ...PAYABLE, chainId: 30, evmChainId: 8453 }],
      listPayable: async () => [PAYABLE],
      quotePayment: async ({ amount }) => [
        // CAST: the fields that the terms read.
        {
          expectedAmountOutBaseUnits: String(amount - 10n),
          minReceivedBaseUnits: String(amount - 20n),
          fees: { service: "10", gas: "0", bridge: "0" },
          etaSeconds: 20,
          belowMinimum: amount < 5_000_000n,
        } as never,
      ],
      files: { send: (_, reply) => reply.type("text/html; charset=utf-8").send("<p>page</p>") },
      // The test network in the place of Base has an explorer of its own; the chain in Ethereum's place has none.
      explorers: new Map([
        [2, ""],
        [30, "https://sepolia.basescan.org/tx/"],
      ]),
      frameAncestors: ["https://shop.example"],
      baseUrl: () => "https://pay.example/",
    },
  });
  url = await app.listen({ host: "127.0.0.1", port: 0 });
  alice = await createTenant(database.db);
  bob = await createTenant(database.db);
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

async function ask(path: string, options: RequestInit & { readonly status?: number } = {}) {
  const { status = 200, ...init } = options;
  const response = await fetch(`${url}${path}`, init);
  expect([path, response.status]).toEqual([path, status]);
  return response;
}

async function read<Body>(schema: TSchema, response: Response): Promise<Body> {
  const body: unknown = await response.json();
  expect([...Value.Errors(schema, body)]).toEqual([]);
  // CAST: checked against its schema.
  return body as Body;
}

const keyed = (tenant: Tenant, method: string, body?: object): RequestInit => ({
  method,
  headers: {
    "x-api-key": tenant.apiKey,
    ...(body && { "content-type": "application/json" }),
  },
  ...(body && { body: JSON.stringify(body) }),
});

async function makeLink(tenant: Tenant, fields: object = {}, status = 200) {
  const address = await insertAddress(database.db, tenant);
  const body = { depositAddressId: address.id, ...fields };
  const response = await ask("/pay-links", { ...keyed(tenant, "POST", body), status });
  return { address, response };
}

async function openLink(tenant: Tenant, fields: object = {}) {
  const { address, response } = await makeLink(tenant, fields);
  const link = await read<PayLinkWithToken>(PayLinkWithToken, response);
  return { address, link, path: `/pay/${link.token}` };
}

async function insertDeposit(
  tenant: Tenant,
  address: { readonly id: string; readonly wallet: string },
  row: { readonly amount: string; readonly settlementId?: string },
) {
  await database.db
    .insertInto("deposits")
    .values({
      id: systemRandom.uuid(),
      chain_id: 2,
      wallet: address.wallet,
      token: USDC,
      tx_hash: createHex(32),
      ordinal: 0,
      log_index: 1,
      sender: createHex(20),
      amount: BigInt(row.amount),
      block_number: 7n,
      block_hash: createHex(32),
      address_id: address.id,
      integrator_id: tenant.id,
      settlement_id: row.settlementId ?? null,
      queued: row.settlementId !== undefined,
      ignored_reason: row.settlementId === undefined ? "below_token_min" : null,
      detected_at: sql<string>`clock_timestamp()`,
    })
    .execute();
}

const refusal = async (response: Response) =>
  (await read<ErrorResponse>(ErrorResponse, response)).error;

test("a link shows its address, without a key and without anything of the integrator [T290]", async () => {
  const { link, address, path } = await openLink(alice, { title: "Order 17" });
  expect(link).toMatchObject({ title: "Order 17", url: `https://pay.example${path}` });
  const response = await ask(`${path}/status`);
  expect(response.headers.get("access-control-allow-origin")).toBe("*");
  const text = await response.clone().text();
  const status = await read<PayStatus>(PayStatus, response);
  expect(status).toMatchObject({ title: "Order 17", deposits: [], settlements: [], refunds: [] });
  expect(status.address.walletAddress.toLowerCase()).toBe(address.wallet);
  expect(status.sources).toMatchObject([
    {
      chainId: 2,
      name: "ethereum",
      explorerTxUrl: "",
      tokens: [{ symbol: "USDC", minDeposit: "5000000" }],
    },
  ]);
  expect(status.destination).toMatchObject({
    chainId: 30,
    explorerTxUrl: "https://sepolia.basescan.org/tx/",
  });
  expect(text).not.toContain(alice.name);
  expect(text).not.toContain(alice.keyId);
});

test("GET /chains has the explorer of the test network in the place of a chain", async () => {
  const response = await ask("/chains");
  const chains = await read<ChainList>(ChainList, response);
  const explorers = new Map(chains.map(({ name, explorerTxUrl }) => [name, explorerTxUrl]));
  expect(explorers.get("base")).toBe("https://sepolia.basescan.org/tx/");
  expect(explorers.get("ethereum")).toBe("https://etherscan.io/tx/");
});

test("a token shows no row of another address, of the same integrator or another [T291]", async () => {
  const { address, path } = await openLink(alice);
  const other = await insertAddress(database.db, alice);
  const foreign = await insertAddress(database.db, bob);
  for (const [tenant, one, amount] of [
    [alice, address, "1000001"],
    [alice, other, "2000002"],
    [bob, foreign, "3000003"],
  ] as const) {
    await insertDeposit(tenant, one, { amount });
    await insertSettlement(database.db, tenant, one);
  }
  const text = await (await ask(`${path}/status`)).text();
  expect(text).toContain("1000001");
  for (const hidden of ["2000002", "3000003", other.id, foreign.id]) {
    expect(text).not.toContain(hidden);
  }
  for (const { wallet } of [other, foreign]) {
    expect(text.toLowerCase()).not.toContain(`"${wallet}"`);
  }
  // CAST: checked in the test above.
  const status = JSON.parse(text) as PayStatus;
  expect(status.settlements).toHaveLength(1);
});

test("a link of another integrator's address is not made, listed or revoked [T291]", async () => {
  const { link, address } = await openLink(alice);
  const body = { depositAddressId: address.id };
  await ask("/pay-links", { ...keyed(bob, "POST", body), status: 404 });
  await ask(`/pay-links/${link.id}`, { ...keyed(bob, "DELETE"), status: 404 });
  const list = await (await ask("/pay-links", keyed(bob, "GET"))).text();
  expect(list).not.toContain(link.id);
  expect(await (await ask("/pay-links?limit=1", keyed(alice, "GET"))).json()).toMatchObject({
    items: [{ id: link.id, depositAddressId: address.id }],
  });
});

test("unknown, expired and revoked tokens are refused in words, by every endpoint [T290]", async () => {
  const expired = await openLink(alice, { expiresInSeconds: 60 });
  await sql`update pay_links set expires_at = now() where id = ${expired.link.id}`.execute(
    database.db,
  );
  const revoked = await openLink(alice);
  await ask(`/pay-links/${revoked.link.id}`, keyed(alice, "DELETE"));
  const cases = [
    [`/pay/${"A".repeat(32)}`, "unknown", "not known"],
    ["/pay/short", "unknown", "not known"],
    [`${expired.path.slice(0, -1)}`, "unknown", "not known"],
    [expired.path, "expired", "has expired"],
    [revoked.path, "revoked", "was withdrawn"],
  ] as const;
  for (const [path, reason, words] of cases) {
    for (const end of ["/status", "/events", "/terms?chainId=2"]) {
      const error = await refusal(await ask(`${path}${end}`, { status: 404 }));
      expect(error).toMatchObject({ code: "NOT_FOUND", details: { reason } });
      expect(error.message).toContain(words);
    }
    expect(await (await ask(path, { status: 404 })).text()).toContain("<p>page</p>");
  }
});

test("the database holds no token [T290]", async () => {
  const { link } = await openLink(alice);
  const { rows } = await sql<{
    text: string;
  }>`select pay_links::text as text from pay_links`.execute(database.db);
  expect(rows.some(({ text }) => text.includes(link.id))).toBe(true);
  expect(rows.filter(({ text }) => text.includes(link.token))).toEqual([]);
});

test("a title has no control characters, and a lifetime has bounds", async () => {
  for (const [fields, field] of [
    [{ title: "" }, "title"],
    [{ title: "a\u0000b" }, "title"],
    [{ title: "x".repeat(101) }, "title"],
    [{ title: "\u202eabc" }, "title"],
    [{ expiresInSeconds: 59 }, "expiresInSeconds"],
    [{ expiresInSeconds: 31_536_001 }, "expiresInSeconds"],
    [{ expiresInSeconds: 60.5 }, "expiresInSeconds"],
  ] as const) {
    const { response } = await makeLink(alice, fields, 400);
    expect((await refusal(response)).details).toEqual({ field });
  }
});

test("amounts below the minimum are added up until a delivery", async () => {
  const { address, path } = await openLink(alice);
  const missing = async () =>
    (await read<PayStatus>(PayStatus, await ask(`${path}/status`))).missing;
  await insertDeposit(alice, address, { amount: "1000000" });
  await insertDeposit(alice, address, { amount: "500000" });
  expect(await missing()).toMatchObject([
    { chainId: 2, held: "1500000", minimum: "5000000", missing: "3500000" },
  ]);
  const settlementId = await insertSettlement(database.db, alice, address);
  await insertDeposit(alice, address, { amount: "9000000", settlementId });
  expect(await missing()).toEqual([]);
  await insertDeposit(alice, address, { amount: "4000000" });
  expect(await missing()).toMatchObject([{ held: "4000000", missing: "1000000" }]);
});

test("payments older than the listed settlements say what became of them", async () => {
  const { address, path } = await openLink(alice);
  const statuses = ["dead", ...Array.from({ length: 6 }, () => "completed")];
  for (const [index, status] of statuses.entries()) {
    const row =
      status === "dead"
        ? ({ status, error: { code: "SIMULATION_REVERTED", retryable: false } } as const)
        : {};
    const settlementId = await insertSettlement(database.db, alice, address, row);
    await insertDeposit(alice, address, { amount: `${9 - index}000000`, settlementId });
  }
  const status = await read<PayStatus>(PayStatus, await ask(`${path}/status`));
  expect(status.settlements).toHaveLength(PAY_SETTLEMENTS_MAX);
  expect(status.hasMore).toBe(true);
  const listed = new Set(status.settlements.map(({ id }) => id));
  const older = status.deposits.filter(({ settlementId }) => !listed.has(settlementId ?? ""));
  expect(older.map(({ amount, outcome }) => [amount, outcome])).toEqual([
    ["8000000", "settled"],
    ["9000000", "dead"],
  ]);
});

test("terms say what arrives of an amount", async () => {
  const { path } = await openLink(alice);
  const terms = (query: string, status = 200) =>
    ask(`${path}/terms?chainId=2&${query}`, { status });
  const token = `tokenAddress=0x${"5".repeat(40)}`;
  expect(await read(PayTerms, await terms(`${token}&amount=1000`))).toMatchObject({
    expectedAmount: "990",
    minAmount: "980",
    isBelowMinimum: true,
  });
  for (const [query, field] of [
    [`${token}&amount=0`, "amount"],
    [`${token}&amount=1.5`, "amount"],
    [`${token}&amount=${"9".repeat(79)}`, "amount"],
    [`tokenAddress=0x${"6".repeat(40)}&amount=1`, "tokenAddress"],
    [`${token}&amount=1&more=1`, "more"],
  ] as const) {
    expect((await refusal(await terms(query, 400))).details).toMatchObject({ field });
  }
});

test("the page runs only its own files, and only configured pages frame it [T292, T293]", async () => {
  const { path } = await openLink(alice);
  const policy = (await ask(path)).headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
  expect(policy).toContain("frame-ancestors https://shop.example");
  expect(policy).not.toMatch(/unsafe|\*/);
});

/** Reads events of a stream until one is there, or the server has ended it. */
function follow(path: string, lastEventId = "") {
  const events: { readonly id: string; readonly data: string }[] = [];
  let ended = false;
  const headers = lastEventId === "" ? {} : { "last-event-id": lastEventId };
  const request = httpGet(`${url}${path}/events`, { headers }, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (part: string) => {
      const blocks = (text + part).split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const [, id] = /^id: (.*)$/m.exec(block) ?? [];
        const [, data] = /^data: (.*)$/m.exec(block) ?? [];
        if (id !== undefined && data !== undefined) events.push({ id, data });
      }
    });
    response.on("end", () => (ended = true));
  });
  return { events, hasEnded: () => ended, close: () => request.destroy() };
}

async function until(condition: () => boolean): Promise<void> {
  await expect
    .poll(
      async () => {
        await app.payStreams.pump();
        return condition();
      },
      { timeout: 30_000 },
    )
    .toBe(true);
}

test("the console is the same for everybody, runs only its own files, and nobody frames it [T292, T293, T300]", async () => {
  const response = await ask("/console?view=settlements&status=dead");
  expect(await response.text()).toBe("<p>page</p>");
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy.split("; ")).toEqual(
    expect.arrayContaining([
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
    ]),
  );
  expect(policy).not.toMatch(/unsafe|https?:/);
  const script = await ask("/console/assets/console.js");
  expect(script.headers.get("cache-control")).toBe("public, max-age=300");
  expect(script.headers.get("access-control-allow-origin")).toBe(null);
});

test("a stream sends each change once, and goes on after the last event that was seen", async () => {
  const { address, path } = await openLink(alice);
  const first = follow(path);
  await until(() => first.events.length === 1);
  await insertDeposit(alice, address, { amount: "7000000" });
  app.payStreams.prefer(alice.id);
  await until(() => first.events.length === 2);
  const [before, now] = first.events;
  expect(now?.data).toContain("7000000");
  app.payStreams.prefer(alice.id);
  await app.payStreams.pump();
  expect(first.events).toHaveLength(2);
  first.close();

  const current = follow(path, now?.id);
  const late = follow(path, before?.id);
  await until(() => late.events.length === 1);
  expect(late.events).toEqual([now]);
  expect(current.events).toEqual([]);
  current.close();
  late.close();
  await until(() => app.payStreams.count() === 0);
});

test("a stream ends when its link is revoked [T290]", async () => {
  const { link, path } = await openLink(alice);
  const stream = follow(path);
  await until(() => stream.events.length === 1);
  await ask(`/pay-links/${link.id}`, keyed(alice, "DELETE"));
  await until(() => stream.hasEnded());
  expect(app.payStreams.count()).toBe(0);
}, 20_000);

test("a link has a bounded number of streams [T294]", async () => {
  const { path } = await openLink(alice);
  const streams = Array.from({ length: 20 }, () => follow(path));
  await until(() => app.payStreams.count() === 20);
  const error = await refusal(await ask(`${path}/events`, { status: 503 }));
  expect(error.details).toEqual({ reason: "too_many_streams" });
  for (const stream of streams) stream.close();
  await until(() => app.payStreams.count() === 0);
});
