import { describe, expect, test } from "vitest";
import type { DatabaseFacts } from "../db/inspect.ts";
import { OperatingError } from "../core/errors.ts";
import { Secret } from "../core/secret.ts";
import { checkDatabase } from "./database.ts";
import { runChecks } from "./run.ts";

const IN_ORDER: DatabaseFacts = {
  majorVersion: 17,
  durability: { fsync: "on", synchronous_commit: "on", full_page_writes: "on" },
  clockAheadMs: -3,
  missingMigrations: [],
  isClaimed: false,
  attestorRights: [],
};
const config = { databaseUrl: new Secret("postgres://db") };

async function examine(facts: Partial<DatabaseFacts>) {
  const readDatabase = async () => ({ ...IN_ORDER, ...facts });
  const results = await runChecks([checkDatabase({ config, readDatabase }).all]);
  return results.filter(({ status }) => status !== "ok");
}

describe("the database", () => {
  test("has no findings when it is correct", async () => {
    expect(await examine({})).toEqual([]);
  });

  test.each<[Partial<DatabaseFacts>, object]>([
    [{ majorVersion: 14 }, { id: "database.version", status: "warning", found: "PostgreSQL 14" }],
    [
      { durability: { ...IN_ORDER.durability, fsync: "off", synchronous_commit: "off" } },
      {
        id: "database.durability",
        status: "problem",
        found: "fsync = off, synchronous_commit = off",
        advice: "Set fsync = on, synchronous_commit = on and restart the server.",
      },
    ],
    [
      { clockAheadMs: 1_000 },
      { id: "database.clock", status: "warning", found: "1000 ms ahead of this machine" },
    ],
    [
      { clockAheadMs: -30_000 },
      { id: "database.clock", status: "problem", found: "30000 ms behind this machine" },
    ],
    [
      { missingMigrations: ["0002-x"] },
      { id: "database.migrations", status: "problem", found: "missing migrations: 0002-x" },
    ],
    [
      { attestorRights: ["may INSERT into deliveries"] },
      { id: "database.attestor", status: "problem", found: "may INSERT into deliveries" },
    ],
    [
      { attestorRights: null },
      { id: "database.attestor", status: "warning", found: "the owner of the tables" },
    ],
  ])("reports %j", async (facts, expected) => {
    expect(await examine(facts)).toMatchObject([expected]);
  });

  test("accepts a commit that also waits for other servers as durable", async () => {
    const durability = { ...IN_ORDER.durability, synchronous_commit: "remote_apply" };
    expect(await examine({ durability })).toEqual([]);
  });

  test("is reported once when it is unreachable", async () => {
    const readDatabase = async () => {
      throw new OperatingError("CONFIG_MISSING", "It cannot be used.");
    };
    const results = await runChecks([checkDatabase({ config, readDatabase }).all]);
    expect(results.map(({ status }) => status)).toEqual([
      "problem",
      ...Array.from({ length: 6 }, () => "skipped"),
    ]);
  });
});
