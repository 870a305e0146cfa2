/** Calls that share a statement, on real PostgreSQL. */
import { sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { allOrEach, gather, gatherCalls, gatherWrites } from "./gather.ts";
import type { Db } from "./schema.ts";

let database: TestDatabase;
let db: Db;
/** The keys of each statement. */
let asked: (readonly string[])[];

beforeEach(async () => {
  database = await createTestDatabase();
  db = database.db;
  asked = [];
  await sql`create table pets (name text primary key, legs integer not null)`.execute(db);
  await sql`insert into pets values ('cat', 4), ('hen', 2), ('snail', -1)`.execute(db);
});
afterEach(async () => {
  await database.drop();
});

const countLegs = gather(
  async (given, names: readonly string[]) => {
    asked.push(names);
    const { rows } = await sql<{ name: string; legs: number }>`
      select name, legs from pets where name = any(${names}::text[])`.execute(given);
    return rows.map((row) => [row.name, row.legs] as const);
  },
  (legs) => {
    if (legs < 0) throw new RangeError("expected legs");
    return legs;
  },
);

test("calls of one turn are one statement, and each gets its own row [T313]", async () => {
  const found = await Promise.all(["hen", "dodo", "cat", "hen"].map((name) => countLegs(db, name)));
  expect(found).toEqual([2, null, 4, 2]);
  expect(asked).toEqual([["hen", "dodo", "cat"]]);
});

test("a later call is answered by a later statement", async () => {
  expect(await countLegs(db, "cat")).toBe(4);
  await sql`update pets set legs = 3 where name = 'cat'`.execute(db);
  expect(await countLegs(db, "cat")).toBe(3);
  expect(asked).toHaveLength(2);
});

test("a malformed row fails its own caller only [T313]", async () => {
  const [snail, cat] = await Promise.allSettled([countLegs(db, "snail"), countLegs(db, "cat")]);
  expect(snail).toMatchObject({ status: "rejected", reason: { message: "expected legs" } });
  expect(cat).toEqual({ status: "fulfilled", value: 4 });
});

test("a call in a transaction sees the writes of its transaction", async () => {
  await db.transaction().execute(async (tx) => {
    await sql`update pets set legs = 5 where name = 'cat'`.execute(tx);
    expect(await Promise.all([countLegs(tx, "cat"), countLegs(db, "cat")])).toEqual([5, 4]);
  });
});

test("an argument that fails is called alone, and so are those that shared its statement [T313]", async () => {
  const halve = gatherCalls(async (given, numbers: readonly number[]) => {
    asked.push(numbers.map(String));
    const { rows } = await sql<{ half: number }>`
      select 10 / n as half from unnest(${numbers}::integer[]) with ordinality as given (n, place)
      order by place`.execute(given);
    return rows.map(({ half }) => half);
  });
  const results = await Promise.allSettled([halve(db, 5), halve(db, 0), halve(db, 2)]);
  expect(results).toMatchObject([
    { status: "fulfilled", value: 2 },
    { status: "rejected", reason: { message: "division by zero" } },
    { status: "fulfilled", value: 5 },
  ]);
  expect(asked).toEqual([["5", "0", "2"], ["5"], ["0"], ["2"]]);
});

test("of several writes of a key the last one is written", async () => {
  const setLegs = gatherWrites<string, number>(async (given, legs) => {
    asked.push([...legs.keys()]);
    await sql`update pets set legs = new.legs
      from unnest(${[...legs.keys()]}::text[], ${[...legs.values()]}::integer[]) as new (name, legs)
      where pets.name = new.name`.execute(given);
  });
  await Promise.all([setLegs(db, "cat", 1), setLegs(db, "hen", 7), setLegs(db, "cat", 8)]);
  const { rows } = await sql`select name, legs from pets order by name`.execute(db);
  expect(rows).toEqual([
    { name: "cat", legs: 8 },
    { name: "hen", legs: 7 },
    { name: "snail", legs: -1 },
  ]);
  expect(asked).toEqual([["cat", "hen"]]);
});

test("calls beyond what a statement takes are further statements", async () => {
  const names = Array.from({ length: 450 }, (_, index) => `pet ${index}`);
  const found = await Promise.all(["cat", ...names].map((name) => countLegs(db, name)));
  expect(found.filter((legs) => legs !== null)).toEqual([4]);
  expect(asked.map((keys) => keys.length)).toEqual([200, 200, 51]);
});

test("work on all items is work on each alone where one fails [T313]", async () => {
  const done: string[] = [];
  const work = async (names: readonly string[]) => {
    if (names.includes("snail")) throw new RangeError(`expected legs of ${names.length}`);
    done.push(names.join(" "));
  };
  await allOrEach([], work);
  await allOrEach(["cat", "hen"], work);
  expect(done).toEqual(["cat hen"]);
  await expect(allOrEach(["cat", "snail", "hen"], work)).rejects.toThrow("expected legs of 1");
  expect(done).toEqual(["cat hen", "cat", "hen"]);
});
