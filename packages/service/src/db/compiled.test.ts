/** Statements that are compiled once, on real PostgreSQL. */
import { sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { compileOnce, type Places } from "./compiled.ts";
import type { Db } from "./schema.ts";

let database: TestDatabase;
let db: Db;

beforeEach(async () => {
  database = await createTestDatabase();
  db = database.db;
});
afterEach(async () => {
  await database.drop();
});

interface Filter {
  readonly owner: string;
  readonly legs?: number | undefined;
  readonly names?: readonly string[] | undefined;
  readonly rows: number;
}

const PETS = sql<{ owner: string; name: string; legs: number }>`(values
  ('ann', 'cat', 4), ('ann', 'hen', 2), ('ann', 'dog', 4), ('bob', 'cow', 4), ('bob', 'crow', 2))`;

/** Returns a read of pets by compiled statements, and the forms that it built. */
function readPets() {
  const built: string[] = [];
  const read = compileOnce((given, { owner, legs, names, rows }: Places<Filter>) => {
    built.push(["owner", legs && "legs", names && "names"].filter(Boolean).join(" and "));
    let query = given
      .selectFrom(PETS.as<"pets">(sql`pets (owner, name, legs)`))
      .select("name")
      .where("owner", "=", owner)
      .orderBy("name")
      .limit(rows);
    if (legs !== undefined) query = query.where("legs", "=", legs);
    if (names !== undefined) query = query.where("name", "=", sql<string>`any(${names}::text[])`);
    return query;
  });
  return {
    built,
    namesOf: async (filter: Filter) => (await read(db, filter)).map(({ name }) => name),
  };
}

test("each use has its own values, and a form is built once [T328]", async () => {
  const { built, namesOf } = readPets();
  expect(await namesOf({ owner: "ann", rows: 9 })).toEqual(["cat", "dog", "hen"]);
  expect(await namesOf({ owner: "bob", rows: 9 })).toEqual(["cow", "crow"]);
  expect(await namesOf({ rows: 1, owner: "ann" })).toEqual(["cat"]);
  expect(await namesOf({ owner: "ann", legs: 4, rows: 9 })).toEqual(["cat", "dog"]);
  expect(await namesOf({ owner: "ann", legs: undefined, rows: 9 })).toEqual(["cat", "dog", "hen"]);
  expect(await namesOf({ owner: "bob", legs: 2, rows: 9 })).toEqual(["crow"]);
  expect(await namesOf({ owner: "ann", names: ["hen", "cow"], rows: 9 })).toEqual(["hen"]);
  expect(await namesOf({ owner: "bob", names: [], rows: 9 })).toEqual([]);
  expect(built).toEqual(["owner", "owner and legs", "owner and names"]);
});

test("uses at the same time do not mix their values [T328]", async () => {
  const { namesOf } = readPets();
  const owners = Array.from({ length: 40 }, (_, place) => (place % 2 === 0 ? "ann" : "bob"));
  const found = await Promise.all(owners.map((owner) => namesOf({ owner, legs: 2, rows: 9 })));
  expect(found).toEqual(owners.map((owner) => (owner === "ann" ? ["hen"] : ["crow"])));
});

test("a value that the statement does not use is refused [T328]", async () => {
  const read = compileOnce((given, { rows }: Places<Filter>) =>
    given.selectFrom("integrators").select("id").limit(rows),
  );
  await expect(read(db, { owner: "ann", rows: 1 })).rejects.toThrow("uses the value owner");
});
