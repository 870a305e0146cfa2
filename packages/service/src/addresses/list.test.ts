import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant, insertAddress } from "../../test/support/tenants.ts";
import { iterateAddresses } from "./index.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test("exports every address once across pages, also when the last page is full", async () => {
  const tenant = await createTenant(database.db);
  const { id } = await insertAddress(database.db, tenant);
  await database.pool.query(
    `insert into addresses
     select (jsonb_populate_record(addresses, jsonb_build_object(
       'id', gen_random_uuid(), 'user_id', '0x' || lpad(to_hex(i), 40, '0'),
       'wallet', '0x' || lpad(to_hex(i), 40, '0'), 'commitment', '0x' || lpad(to_hex(i), 64, '0'),
       'created_at', created_at + i * interval '1 millisecond'))).*
     from addresses, generate_series(1, 1999) i where id = $1`,
    [id],
  );
  const exported: string[] = [];
  const args = { integratorId: undefined, display: String };
  for await (const address of iterateAddresses(database.db, args)) exported.push(address.id);
  expect(exported).toHaveLength(2_000);
  expect(new Set(exported).size).toBe(2_000);
  expect(exported).toContain(id);
});
