/** Additions to the published interface: one settlement, one address, filters and deposits. */
import { verifyDepositAddress } from "@sluice/sdk/address";
import {
  Deposit,
  DepositAddressPage,
  DepositAddressWithCommitment,
  DepositPage,
  ErrorResponse,
  type EventPage as EventPageType,
  EventPage,
  type ExtendedEventPage as ExtendedEventPageType,
  ExtendedEventPage,
  OPERATIONS,
  Settlement,
  type Swap as SwapType,
  Swap,
  SwapPage,
} from "@sluice/sdk/wire";
import { createAsyncApi, createOpenApi } from "@sluice/sdk/reference";
import { sql } from "kysely";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SERVED_BY, type RunningApi, startApi } from "../../test/support/api.ts";
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
import { issueAddress } from "../addresses/index.ts";
import { toChecksumAddress } from "../chains/evm/checksum.ts";
import { hashCommitment, predictWallet } from "../chains/evm/commitment.ts";
import { toEvmAddress } from "../core/hex.ts";
import { systemRandom } from "../roles/system-ports.ts";

let database: TestDatabase;
let api: RunningApi;
let alice: Tenant;
let bob: Tenant;

beforeAll(async () => {
  database = await createTestDatabase();
  api = await startApi({ db: database.db });
  alice = await createTenant(database.db);
  bob = await createTenant(database.db);
});
afterAll(async () => {
  await api.close();
  await database.drop();
});

async function get(tenant: Tenant, path: string, schema: TSchema, status = 200) {
  const response = await fetch(`${api.url}${path}`, { headers: { "x-api-key": tenant.apiKey } });
  const body: unknown = await response.json();
  expect(response.status).toBe(status);
  expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect([...Value.Errors(schema, body)]).toEqual([]);
  return body;
}

const refused = async (tenant: Tenant, path: string, status = 400) => {
  // CAST: checked against its schema.
  const body = (await get(tenant, path, ErrorResponse, status)) as {
    error: { code: string; details?: { field?: string } };
  };
  return body.error;
};

describe("one settlement", () => {
  test("is returned as in the list to its integrator, and not found by others", async () => {
    const address = await insertAddress(database.db, alice);
    const id = await insertSettlement(database.db, alice, address);
    const one = await get(alice, `/swaps/${id}`, Swap);
    // CAST: checked against its schema.
    const list = (await get(alice, "/swaps", SwapPage)) as { items: SwapType[] };
    expect(one).toEqual(list.items.find((swap) => swap.id === id));
    expect(await get(alice, `/swaps/${id.toUpperCase()}`, Swap)).toEqual(one);
    expect(await refused(bob, `/swaps/${id}`, 404)).toMatchObject({ code: "NOT_FOUND" });
    expect(await refused(alice, `/swaps/${systemRandom.uuid()}`, 404)).toMatchObject({
      code: "NOT_FOUND",
    });
  });

  test.each(["nothing", "", "%00", "..%2Fevents"])(
    "is not found under a malformed id (%s)",
    async (id) => {
      expect(await refused(alice, `/swaps/${id}`, 404)).toMatchObject({ code: "NOT_FOUND" });
    },
  );
});

describe("one deposit address", () => {
  const FACTORY = toEvmAddress(`0x${"fa".repeat(20)}`);

  test("is returned to its integrator only, as in the list plus its preimage", async () => {
    const { id, wallet } = await issueAddress(
      { db: database.db, random: systemRandom },
      {
        chain: {
          chainId: 2,
          kind: "evm",
          wallets: { kind: "contract" },
          predictWallet: (commitment) => predictWallet(FACTORY, commitment),
          hashCommitment,
          isWalletOf: ({ commitment, wallet }) => predictWallet(FACTORY, commitment) === wallet,
          addresses: { walletRoot: FACTORY, escrow: FACTORY, delivery: FACTORY },
        },
        integratorId: alice.id,
        destination: {
          userId: createHex(20),
          destChain: 30,
          destWallet: toEvmAddress(createHex(20)),
          destToken: toEvmAddress(USDC),
        },
      },
    );
    // CAST: checked against their schemas.
    const { payDepositCommitment: commitment, ...noted } = (await get(
      alice,
      `/deposit-addresses/${id}`,
      DepositAddressWithCommitment,
    )) as DepositAddressWithCommitment;
    const { label, metadata, ...one } = noted;
    expect({ label, metadata }).toEqual({ label: null, metadata: {} });
    // CAST: as above.
    const list = (await get(alice, "/deposit-addresses", DepositAddressPage)) as DepositAddressPage;
    expect(one).toEqual(list.items.find((address) => address.id === id));
    const { destChain, destWallet } = one;
    const expected = { integrator: alice.id, destChain: Number(destChain), destWallet };
    expect(
      verifyDepositAddress({ address: one.walletAddress, commitment, factory: FACTORY, expected }),
    ).toMatchObject({ kind: "ok", address: toChecksumAddress(wallet) });
    for (const [tenant, other] of [
      [bob, id],
      [alice, systemRandom.uuid()],
      [alice, "nothing"],
    ] as const) {
      expect(await refused(tenant, `/deposit-addresses/${other}`, 404)).toEqual({
        code: "NOT_FOUND",
        message: "There is no such deposit address of yours.",
        retryable: false,
      });
    }
  });
});

describe("filters of settlements", () => {
  test("return settlements that match all filters, in the usual pages", async () => {
    const carol = await createTenant(database.db);
    const [one, other] = [
      await insertAddress(database.db, carol),
      await insertAddress(database.db, carol),
    ];
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      ids.push(await insertSettlement(database.db, carol, one, { status: "completed" }));
    }
    const waiting = await insertSettlement(database.db, carol, other, { status: "pending_swap" });
    const idsOf = async (query: string) => {
      // CAST: checked against its schema.
      const { items } = (await get(carol, `/swaps?${query}`, SwapPage)) as { items: SwapType[] };
      return items.map(({ id }) => id);
    };
    expect(await idsOf("status=pending_swap")).toEqual([waiting]);
    expect(await idsOf(`walletAddress=${one.wallet}`)).toEqual(ids.toReversed());
    expect(await idsOf(`walletAddress=${toChecksumAddress(one.wallet as never)}`)).toEqual(
      ids.toReversed(),
    );
    expect(await idsOf(`walletAddress=${one.wallet}&status=pending_swap`)).toEqual([]);
    expect(await idsOf("chainId=2&limit=100")).toHaveLength(4);
    expect(await idsOf("chainId=30")).toEqual([]);
    // CAST: checked against its schema.
    const page = (await get(carol, "/swaps?status=completed&limit=2", SwapPage)) as {
      items: SwapType[];
      nextCursor: string;
    };
    expect(page.items.map(({ id }) => id)).toEqual(ids.toReversed().slice(0, 2));
    expect(await idsOf(`status=completed&cursor=${page.nextCursor}`)).toEqual(ids.slice(0, 1));
    const [, first] = page.items;
    const digits = first?.userId.slice(2) ?? "";
    expect(await idsOf(`userId=0x${digits.toUpperCase()}`)).toEqual(ids.toReversed());
    // In a quote's spelling: leading zeros have no meaning.
    expect(await idsOf(`userId=0x${digits.padStart(64, "0")}`)).toEqual(ids.toReversed());
    expect(await idsOf(`userId=0x${digits.replace(/^0+/, "")}`)).toEqual(ids.toReversed());
    expect(await idsOf("userId=0x1")).toEqual([]);
  });

  test.each([
    ["status", "status=done"],
    ["walletAddress", "walletAddress=0x1"],
    ["walletAddress", "walletAddress=0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD"],
    ["userId", "userId=7"],
    ["userId", "userId=0x"],
    ["userId", `userId=0x1${"0".repeat(40)}`],
    ["chainId", "chainId=0"],
    ["chainId", "chainId=70000"],
    ["chainId", "chainId=2&chainId=3"],
  ])("name the refused filter %s: %s", async (field, query) => {
    expect(await refused(alice, `/swaps?${query}`)).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { field },
    });
  });
});

describe("unknown parameters", () => {
  const served = OPERATIONS.filter(({ server }) => server === "service");
  const call = async (operation: (typeof OPERATIONS)[number], query: string) => {
    const path = operation.path.replaceAll(/\{\w+\}/g, systemRandom.uuid());
    const response = await fetch(`${api.url}${path}?${query}`, {
      method: operation.method,
      headers: { "x-api-key": alice.apiKey },
    });
    const { status } = response;
    return { status, text: status === 400 ? await response.text() : "" };
  };

  test.each(served.filter(({ published }) => !published))(
    "are refused by $method $path [T277]",
    async (operation) => {
      const { status, text } = await call(operation, "walletAdress=0x1");
      expect(status).toBe(400);
      expect(JSON.parse(text)).toMatchObject({
        error: { code: "VALIDATION_ERROR", details: { field: "walletAdress" } },
      });
    },
  );

  test.each(served.filter(({ published, method }) => published && method === "GET"))(
    "are ignored by $method $path, which is of the published interface",
    async (operation) => {
      expect((await call(operation, "walletAdress=0x1")).status).toBe(200);
    },
  );

  test("are refused of who has a valid key only", async () => {
    const response = await fetch(`${api.url}/deposits?walletAdress=0x1`);
    expect(response.status).toBe(401);
  });
});

describe("filters of deposit addresses", () => {
  test("return addresses that match, to their integrator only [T213]", async () => {
    const jane = await createTenant(database.db);
    const [one, other] = [
      await insertAddress(database.db, jane),
      await insertAddress(database.db, jane),
    ];
    const row = await database.db
      .updateTable("addresses")
      .set({ dest_chain: 23, dest_token: createHex(20) })
      .where("id", "=", one.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    const idsOf = async (tenant: Tenant, query: string) => {
      // CAST: checked against its schema.
      const { items } = (await get(
        tenant,
        `/deposit-addresses?${query}`,
        DepositAddressPage,
      )) as DepositAddressPage;
      return items.map(({ id }) => id);
    };
    for (const query of [
      `walletAddress=${one.wallet}`,
      `userId=${row.user_id}`,
      "destChain=23",
      `destToken=${row.dest_token}`,
      `destToken=${row.dest_token}&from=${row.created_at}&limit=1`,
    ]) {
      expect([query, await idsOf(jane, query)]).toEqual([query, [one.id]]);
      expect([query, await idsOf(bob, query)]).toEqual([query, []]);
    }
    expect(await idsOf(jane, "")).toEqual([other.id, one.id]);
    expect(await idsOf(jane, `to=${row.created_at}`)).toEqual([]);
    expect(await refused(jane, "/deposit-addresses?destChain=x")).toMatchObject({
      details: { field: "destChain" },
    });
  });
});

describe("deposits", () => {
  async function insertDeposits(
    tenant: Tenant,
    address: { readonly id: string; readonly wallet: string },
    count: number,
    change: object = {},
  ) {
    const ids = Array.from({ length: count }, () => systemRandom.uuid());
    await database.db
      .insertInto("deposits")
      .values(
        ids.map((id) => ({
          id,
          chain_id: 2,
          wallet: address.wallet,
          token: USDC,
          tx_hash: createHex(32),
          ordinal: 0,
          log_index: 1,
          sender: createHex(20),
          amount: 5n,
          block_number: 7n,
          block_hash: createHex(32),
          address_id: address.id,
          integrator_id: tenant.id,
          settlement_id: null,
          queued: false,
          ignored_reason: "below_token_min",
          detected_at: "2026-01-01T00:00:00.000Z",
          ...change,
        })),
      )
      .execute();
    return ids;
  }
  // CAST: checked against its schema.
  const list = async (tenant: Tenant, query = "") =>
    (await get(tenant, `/deposits?${query}`, DepositPage)) as DepositPage;

  test("of one millisecond are paged without loss or repetition", async () => {
    const dave = await createTenant(database.db);
    const ids = await insertDeposits(dave, await insertAddress(database.db, dave), 25);
    const seen: string[] = [];
    let cursor = "";
    for (let pages = 0; pages < 10; pages += 1) {
      const page = await list(dave, `limit=4${cursor && `&cursor=${cursor}`}`);
      seen.push(...page.items.map(({ id }) => id));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(seen).toHaveLength(25);
    expect(new Set(seen)).toEqual(new Set(ids));
  });

  test("are filtered by the finality of their blocks", async () => {
    const fay = await createTenant(database.db);
    const address = await insertAddress(database.db, fay);
    // A chain of its own, whose heights no other test changes.
    const chain_id = 4;
    const insert = (block_number: bigint, more: object = {}) =>
      insertDeposits(fay, address, 1, { chain_id, block_number, ...more });
    const [final, confirming] = [await insert(10n), await insert(11n)];
    const orphaned = await insert(9n, { orphaned_at: "2026-01-02T00:00:00.000Z" });
    const idsBy = async (state: string) =>
      (await list(fay, `finality=${state}`)).items.map(({ id, finality }) => [id, finality]);
    const block = { chain_id, number: 12n, hash: createHex(32), parent_hash: createHex(32) };
    await database.db.insertInto("scanner_blocks").values(block).execute();
    expect(await idsBy("final")).toEqual([]);
    expect(new Set((await idsBy("confirming")).map(([id]) => id))).toEqual(
      new Set([...final, ...confirming]),
    );
    await database.db.insertInto("scanner_finality").values({ chain_id, number: 10n }).execute();
    expect(await idsBy("final")).toEqual([[final[0], "final"]]);
    expect(await idsBy("confirming")).toEqual([[confirming[0], "confirming"]]);
    expect(await idsBy("orphaned")).toEqual([[orphaned[0], "orphaned"]]);
    expect(await refused(fay, "/deposits?finality=seen")).toMatchObject({
      details: { field: "finality" },
    });
  });

  test("include their origin, destination and confirmations", async () => {
    const erin = await createTenant(database.db);
    const address = await insertAddress(database.db, erin);
    const settlement = await insertSettlement(database.db, erin, address);
    const txHash = createHex(32);
    await insertDeposits(erin, address, 1, {
      tx_hash: txHash,
      settlement_id: settlement,
      queued: true,
      ignored_reason: null,
    });
    await insertDeposits(erin, address, 1, { orphaned_at: "2026-01-02T00:00:00.000Z" });
    await database.db
      .insertInto("scanner_blocks")
      .values({ chain_id: 2, number: 9n, hash: createHex(32), parent_hash: createHex(32) })
      .execute();
    const { items } = await list(erin, `txHash=${txHash}`);
    expect(items).toMatchObject([
      {
        chainId: 2,
        walletAddress: toChecksumAddress(address.wallet as never),
        amount: "5",
        txHash,
        blockNumber: 7,
        confirmations: 3,
        queued: true,
        ignoredReason: null,
        queueItemId: settlement,
      },
    ]);
    const orphaned = (await list(erin)).items.find((deposit) => deposit.txHash !== txHash);
    expect(orphaned).toMatchObject({ confirmations: 0, queued: false, queueItemId: null });
    expect((await list(bob, `txHash=${txHash}`)).items).toEqual([]);
    expect((await list(erin, "chainId=30")).items).toEqual([]);
    expect((await list(erin, `walletAddress=${address.wallet}`)).items).toHaveLength(2);
  });

  test("are found by each filter, by their own integrator only [T213]", async () => {
    const gail = await createTenant(database.db);
    const [address, other] = [
      await insertAddress(database.db, gail),
      await insertAddress(database.db, gail),
    ];
    const settlement = await insertSettlement(database.db, gail, address);
    const token = createHex(20);
    const [wanted] = await insertDeposits(gail, address, 1, {
      token,
      settlement_id: settlement,
      queued: true,
      ignored_reason: null,
      detected_at: "2026-02-01T00:00:00.000Z",
    });
    await insertDeposits(gail, other, 3);
    const { user_id: userId } = await database.db
      .selectFrom("addresses")
      .select("user_id")
      .where("id", "=", address.id)
      .executeTakeFirstOrThrow();
    for (const query of [
      `userId=${userId}`,
      `tokenAddress=${token}`,
      `settlementId=${settlement}`,
      "queued=true",
      "from=2026-02-01T00:00:00.000Z",
      "from=2026-02-01&to=2026-02-02",
    ]) {
      expect([query, (await list(gail, query)).items.map(({ id }) => id)]).toEqual([
        query,
        [wanted],
      ]);
    }
    expect((await list(gail, "queued=false&to=2026-02-01")).items).toHaveLength(3);
    expect((await list(bob, `settlementId=${settlement}`)).items).toEqual([]);

    const one = await get(gail, `/deposits/${wanted}`, Deposit);
    expect(one).toEqual((await list(gail, "queued=true")).items[0]);
    expect(await refused(bob, `/deposits/${wanted}`, 404)).toMatchObject({ code: "NOT_FOUND" });
    expect(await refused(gail, "/deposits/nothing", 404)).toMatchObject({ code: "NOT_FOUND" });
  });

  test("name the finality of their blocks and the notes of the address", async () => {
    const hank = await createTenant(database.db);
    const address = await insertAddress(database.db, hank);
    await database.db
      .insertInto("address_notes")
      .values({ address_id: address.id, label: "till 4", metadata: JSON.stringify({ a: "b" }) })
      .execute();
    const chain = { chain_id: 44, hash: createHex(32), parent_hash: createHex(32) };
    await database.db
      .insertInto("scanner_blocks")
      .values({ ...chain, number: 20n })
      .execute();
    await sql`insert into scanner_finality (chain_id, number) values (44, 12)`.execute(database.db);
    for (const block_number of [12n, 13n]) {
      await insertDeposits(hank, address, 1, { chain_id: 44, block_number });
    }
    const { items } = await list(hank, "chainId=44");
    const notes = { label: "till 4", metadata: { a: "b" }, depositAddressId: address.id };
    expect(items.toSorted((one, two) => one.blockNumber - two.blockNumber)).toMatchObject([
      { finality: "final", confirmations: 9, confirmationsRequired: 9, ...notes },
      { finality: "confirming", confirmations: 8, confirmationsRequired: 9, ...notes },
    ]);
  });

  test.each([
    ["settlementId", "settlementId=1"],
    ["queued", "queued=yes"],
    ["tokenAddress", "tokenAddress=USDC"],
    ["userId", "userId=ann"],
    ["from", "from=yesterday"],
    ["wallet", "wallet=0x1"],
    ["cursor", "cursor=2026-01-01T00:00:00.000Z"],
    ["cursor", "cursor=nothing"],
    ["txHash", "txHash=0x1"],
    ["limit", "limit=101"],
    ["walletAddress", "walletAddress=x"],
    ["chainId", "chainId=x"],
  ])("name the refused parameter %s: %s", async (field, query) => {
    expect(await refused(alice, `/deposits?${query}`)).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { field },
    });
  });
});

describe("the report of a settlement", () => {
  test("has its swap, transactions, amounts and why it waits, for its integrator only [T213]", async () => {
    const ida = await createTenant(database.db);
    const address = await insertAddress(database.db, ida);
    const id = await insertSettlement(database.db, ida, address, {
      status: "failed_swap",
      error: { code: "FEE_NOT_COVERED", retryable: true },
    });
    const swap = (await get(ida, `/swaps/${id}`, Swap)) as object;
    expect(await get(ida, `/settlements/${id}`, Settlement)).toEqual({
      ...swap,
      depositAddressId: address.id,
      label: null,
      metadata: {},
      deposits: [],
      moreDeposits: false,
      route: null,
      tier: null,
      sweptAmount: null,
      promisedAmount: null,
      deliveredAmount: null,
      deliveryTxHash: null,
      plannedFees: null,
      fees: null,
      transactions: [],
      waiting: {
        reason: "gas_price",
        message: "It went wrong.",
        chainId: 2,
        confirmations: null,
        required: null,
        delayReason: null,
        retryAt: null,
      },
      estimate: null,
    });
    expect(await refused(bob, `/settlements/${id}`, 404)).toMatchObject({ code: "NOT_FOUND" });
    expect(await refused(ida, "/settlements/1", 404)).toMatchObject({ code: "NOT_FOUND" });
    expect(await refused(ida, `/settlements/${id}?full=1`)).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { field: "full" },
    });
  });
});

describe("events with details", () => {
  test("have one more object, and are those of the replay otherwise [T212]", async () => {
    const fred = await createTenant(database.db);
    await insertEvent(database.db, fred);
    await insertStatusEvent(database.db, fred, systemRandom.uuid());
    // CAST: checked against their schemas.
    const plain = (await get(fred, "/events?extended=false", EventPage)) as EventPageType;
    const path = "/events?extended=true&limit=2";
    const extended = (await get(fred, path, ExtendedEventPage)) as ExtendedEventPageType;
    expect(plain).toEqual(await get(fred, "/events", EventPage));
    expect(extended).toEqual({
      ...plain,
      items: plain.items.map((event) => ({ ...event, details: null })),
    });
    expect(await refused(fred, "/events?extended=1")).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { field: "extended" },
    });
  });
});

describe("filters of events", () => {
  test("return events of a user, a token and a range of time", async () => {
    const kate = await createTenant(database.db);
    const userId = `0x${"17".padStart(40, "0")}`;
    const token = toChecksumAddress(USDC as never);
    for (let count = 0; count < 3; count += 1) await insertEvent(database.db, kate);
    await sql`update events set details = ${JSON.stringify({ userId })}::jsonb,
        data = data || ${JSON.stringify({ tokenAddress: token })}::jsonb
      where integrator_id = ${kate.id} and created_at =
        (select max(created_at) from events where integrator_id = ${kate.id})`.execute(database.db);
    // CAST: checked against its schema.
    const read = async (query: string) =>
      ((await get(kate, `/events?${query}`, EventPage)) as EventPageType).items;
    const all = await read("");
    const last = all.at(-1);
    expect(all).toHaveLength(3);
    expect(await read("userId=0x17")).toEqual([last]);
    expect(await read("userId=0x18")).toEqual([]);
    expect(await read(`tokenAddress=${USDC}`)).toContainEqual(last);
    expect(await read(`tokenAddress=${createHex(20)}`)).toEqual([]);
    expect(await read(`since=${all[0]?.timestamp}&until=${all[1]?.timestamp}`)).toEqual([all[1]]);
  });
});

describe("the OpenAPI description", () => {
  test("is served without a key, and matches the schemas", async () => {
    const fetchText = async (path: string) => {
      const response = await fetch(`${api.url}${path}`);
      expect(response.status).toBe(200);
      return { type: response.headers.get("content-type"), text: await response.text(), response };
    };
    const openApi = await fetchText("/openapi.json");
    expect(JSON.parse(openApi.text)).toEqual(createOpenApi(SERVED_BY));
    expect(JSON.parse((await fetchText("/asyncapi.json")).text)).toEqual(createAsyncApi(SERVED_BY));
    const page = await fetchText("/docs");
    expect(page.type).toBe("text/html; charset=utf-8");
    const root = await fetch(`${api.url}/`, { redirect: "manual" });
    expect([root.status, root.headers.get("location")]).toEqual([302, "docs"]);
    expect(page.response.headers.get("content-security-policy")).toContain("default-src 'none'");
  });

  test("describes existing endpoints and the keys they require", async () => {
    for (const { method, path, key } of OPERATIONS.filter(({ server }) => server === "service")) {
      // The token of a pay link is checked before anything else.
      const open = path.includes("{token}") ? 404 : 200;
      const response = await fetch(
        `${api.url}${path.replaceAll(/\{\w+\}/g, systemRandom.uuid())}`,
        {
          method,
        },
      );
      expect([path, response.status]).toEqual([path, key === null ? open : 401]);
    }
  });
});
