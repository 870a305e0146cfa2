/** The count of a day's requests, shared by processes. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { reserveRequests } from "./rpc-budgets.ts";

let database: TestDatabase;

beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  await database.drop();
});

const reserve = (given: Partial<Parameters<typeof reserveRequests>[1]> = {}) =>
  reserveRequests(database.db, {
    chainId: 2,
    host: "one.example",
    day: 20_000,
    count: 30,
    max: 100,
    ...given,
  });

test("adds up to the budget of the day and never beyond it", async () => {
  expect(await reserve()).toBe(30);
  expect(await reserve()).toBe(60);
  expect(await reserve({ count: 41 })).toBeNull();
  expect(await reserve({ count: 40 })).toBe(100);
  expect(await reserve({ count: 1 })).toBeNull();
});

test("grants no more than the budget to processes that ask at the same time", async () => {
  const granted = await Promise.all(Array.from({ length: 40 }, () => reserve({ count: 7 })));
  expect(granted.filter((requests) => requests !== null)).toHaveLength(14);
});

test("begins again with a new day", async () => {
  await reserve({ count: 100 });
  expect(await reserve({ day: 20_001 })).toBe(30);
});

test("counts a process whose clock is behind towards the newer day", async () => {
  await reserve({ day: 20_001, count: 90 });
  expect(await reserve({ day: 20_000, count: 11 })).toBeNull();
  expect(await reserve({ day: 20_000, count: 10 })).toBe(100);
  expect(await reserve({ day: 20_001, count: 1 })).toBeNull();
});

test("counts each chain and host by itself", async () => {
  await reserve({ count: 100 });
  expect(await reserve({ chainId: 30 })).toBe(30);
  expect(await reserve({ host: "two.example" })).toBe(30);
});
