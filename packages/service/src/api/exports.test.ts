import { ExportedDeposit, ExportedSettlement, ExtendedEventItem } from "@sluice/sdk/wire";
import { sql } from "kysely";
import { Value } from "typebox/value";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningApi, startApi } from "../../test/support/api.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createHex } from "../../test/support/tenants.ts";
import {
  createTenant,
  insertAddress,
  insertEvent,
  insertSettlement,
  type Tenant,
  USDC,
} from "../../test/support/tenants.ts";
import { putNotes } from "../addresses/index.ts";
import { toEvmAddress } from "../core/hex.ts";

let database: TestDatabase;
let api: RunningApi;
beforeAll(async () => {
  database = await createTestDatabase();
  const token = {
    address: toEvmAddress(USDC),
    symbol: "USDC",
    decimals: 6,
    minDepositUnits: undefined,
  };
  api = await startApi({
    db: database.db,
    scanned: [{ chainId: 2, name: "ethereum", kind: "evm", tokens: [token] }],
  });
});
afterAll(async () => {
  await api.close();
  await database.drop();
});

/** Inserts deposits of one base unit, two per millisecond from the start of the year. */
async function insertDeposits(
  { id: tenant }: Tenant,
  { id, wallet }: { readonly id: string; readonly wallet: string },
  count: number,
): Promise<void> {
  await sql`insert into deposits (id, integrator_id, address_id, chain_id, wallet, token, amount, tx_hash, ordinal, log_index,
      block_number, block_hash, sender, queued, ignored_reason, detected_at, user_id)
    select gen_random_uuid(), ${tenant}::uuid, ${id}::uuid, 2, ${wallet}, ${USDC}, 1, ${createHex(32)}, i, i, 7,
      ${createHex(32)}, ${USDC}, false, 'below_min', '2026-01-01T00:00:00.000Z'::timestamptz + (i / 2) * interval '1 ms',
      (select user_id from addresses where id = ${id}::uuid)
    from generate_series(0, ${count - 1}) i`.execute(database.db);
}

async function get({ apiKey }: Tenant, path: string) {
  const response = await fetch(`${api.url}/exports/${path}`, { headers: { "x-api-key": apiKey } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const linesOf = (text: string, end: string) => {
  expect(text.endsWith(end)).toBe(true);
  return text.split(end).slice(0, -1);
};

test("deposits of a range are exported once each in order, over many pages", async () => {
  const tenant = await createTenant(database.db);
  const address = await insertAddress(database.db, tenant);
  await insertDeposits(tenant, address, 1_203);
  await insertDeposits(
    await createTenant(database.db),
    await insertAddress(database.db, tenant),
    0,
  );
  const whole = await get(tenant, "deposits");
  expect(whole.headers.get("content-type")).toBe("application/x-ndjson; charset=utf-8");
  const items = linesOf(whole.text, "\n").map((line) => JSON.parse(line));
  expect(items).toHaveLength(1_203);
  expect(new Set(items.map(({ id }) => id)).size).toBe(1_203);
  expect([...Value.Errors(ExportedDeposit, items[0])]).toEqual([]);
  expect(items[0]).toMatchObject({ amount: "1", tokenSymbol: "USDC", tokenDecimals: 6 });
  const stamps = items.map(({ detectedAt }) => detectedAt);
  expect(stamps).toEqual(stamps.toSorted());
  // The end of a range is the beginning of the next: each deposit is in one of them.
  const middle = stamps[600];
  const parts = await Promise.all([
    get(tenant, `deposits?to=${middle}`),
    get(tenant, `deposits?from=${middle}`),
  ]);
  expect(parts.map(({ text }) => text).join("")).toBe(whole.text);
});

test("CSV has a header, base units beside symbol and decimals, and no formulas of labels [T232]", async () => {
  const tenant = await createTenant(database.db);
  const address = await insertAddress(database.db, tenant);
  const notes = { label: "=cmd|' /C calc'!A0", metadata: { note: 'a "quoted", text' } };
  await putNotes(database.db, [{ addressId: address.id, notes }]);
  await insertDeposits(tenant, address, 1);
  const { text, headers } = await get(tenant, "deposits?format=csv");
  expect(headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
  expect(headers.get("content-disposition")).toBe('attachment; filename="deposits.csv"');
  const [header = "", line = ""] = linesOf(text, "\r\n");
  const columns = header.split(",");
  expect(columns.slice(8, 12)).toEqual(["tokenAddress", "tokenSymbol", "tokenDecimals", "amount"]);
  expect(line).toContain(`"'=cmd|' /C calc'!A0"`);
  expect(line).toContain('"{""note"":""a \\""quoted\\"", text""}"');
  expect(line).toContain(",USDC,6,1,");
});

test("settlements and events are exported with their amounts and details", async () => {
  const tenant = await createTenant(database.db);
  const address = await insertAddress(database.db, tenant);
  const id = await insertSettlement(database.db, tenant, address, { amount: 5n });
  await insertEvent(database.db, tenant);
  const [settlement] = linesOf((await get(tenant, "settlements")).text, "\n").map((line) =>
    JSON.parse(line),
  );
  expect([...Value.Errors(ExportedSettlement, settlement)]).toEqual([]);
  // The destination is not listed: its amounts have no symbol.
  const tokens = { tokenSymbol: "USDC", destTokenSymbol: null, destTokenDecimals: null };
  expect(settlement).toMatchObject({ id, amount: "5", ...tokens });
  const [event] = linesOf((await get(tenant, "events")).text, "\n").map((line) => JSON.parse(line));
  expect([...Value.Errors(ExtendedEventItem, event)]).toEqual([]);
  const csv = linesOf((await get(tenant, "events?format=csv")).text, "\r\n");
  expect(csv).toHaveLength(2);
});

test("exports show nothing of another integrator, and an empty range is an empty file", async () => {
  const [tenant, other] = [await createTenant(database.db), await createTenant(database.db)];
  await insertDeposits(other, await insertAddress(database.db, other), 3);
  expect((await get(tenant, "deposits")).text).toBe("");
  expect((await get(other, "deposits?from=2030-01-01")).text).toBe("");
});

test.each([
  ["format", "format=xml"],
  ["from", "from=yesterday"],
  ["form", "form=2026-01-01"],
])("refuses a wrong parameter %s", async (field, query) => {
  const { status, text } = await get(await createTenant(database.db), `deposits?${query}`);
  expect(status).toBe(400);
  expect(JSON.parse(text)).toMatchObject({
    error: { code: "VALIDATION_ERROR", details: { field } },
  });
});

test("an export whose database fails half-way is cut off, so that it does not look whole", async () => {
  const tenant = await createTenant(database.db);
  const address = await insertAddress(database.db, tenant);
  await insertDeposits(tenant, address, 1_200);
  let pages = 0;
  const failing = await startApi({
    db: database.db.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (result.rows.some((row) => "detected_at" in row) && (pages += 1) === 2) {
          throw new Error("the database went away");
        }
        return result;
      },
    }),
  });
  const response = await fetch(`${failing.url}/exports/deposits`, {
    headers: { "x-api-key": tenant.apiKey },
  });
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toThrow(/terminated|closed/);
  await failing.close();
});
