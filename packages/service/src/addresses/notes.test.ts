/** The integrator's own words about its addresses. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { createTenant, insertAddress } from "../../test/support/tenants.ts";
import { listNotes, putNotes } from "./notes.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test("notes are replaced one by one, and an equal request writes nothing", async () => {
  const { db } = database;
  const { id } = await insertAddress(db, await createTenant(db));
  const read = async () => (await listNotes(db, [id])).get(id);
  const writtenAt = async () => {
    const row = await db.selectFrom("address_notes").selectAll().executeTakeFirst();
    return row?.updated_at;
  };
  await putNotes(db, [{ addressId: id, notes: {} }]);
  expect(await read()).toBeUndefined();
  await putNotes(db, [{ addressId: id, notes: { metadata: { order: "17" } } }]);
  expect(await read()).toEqual({ label: null, metadata: { order: "17" } });
  await putNotes(db, [{ addressId: id, notes: { label: "Ann 🍋" } }]);
  expect(await read()).toEqual({ label: "Ann 🍋", metadata: { order: "17" } });
  const before = await writtenAt();
  await putNotes(db, [{ addressId: id, notes: { label: "Ann 🍋", metadata: { order: "17" } } }]);
  expect(await writtenAt()).toBe(before);
  await putNotes(db, [{ addressId: id, notes: { metadata: {} } }]);
  expect(await read()).toEqual({ label: "Ann 🍋", metadata: {} });
});
