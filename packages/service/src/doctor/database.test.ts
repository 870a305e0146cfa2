import { describe, expect, test } from "vitest";
import type { DatabaseFacts } from "../db/inspect.ts";
import { CONNECTIONS } from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import { Secret } from "../core/secret.ts";
import { toEvmAddress } from "../core/hex.ts";
import { checkDatabase } from "./database.ts";
import type { DoctorDeps } from "./facts.ts";
import { runChecks } from "./run.ts";

const IN_ORDER: DatabaseFacts = {
  majorVersion: 17,
  durability: { fsync: "on", synchronous_commit: "on", full_page_writes: "on" },
  connectionsMax: 97,
  clockAheadMs: -3,
  missingMigrations: [],
  heldRoles: [],
  attestorRights: [],
};
const listOverdueClaims = async () => [];
const listUnexpectedChanges = async () => [];
const config = {
  databaseUrl: new Secret("postgres://db"),
  databaseConnections: CONNECTIONS,
  chains: [
    { chainId: 2, name: "ethereum" },
    { chainId: 30, name: "base" },
  ],
};

async function examine(
  facts: Partial<DatabaseFacts>,
  breaches: Awaited<ReturnType<DoctorDeps["listBreaches"]>> = [],
) {
  const readDatabase = async () => ({ ...IN_ORDER, ...facts });
  const listBreaches = async () => breaches;
  const results = await runChecks([
    checkDatabase({ config, readDatabase, listBreaches, listOverdueClaims, listUnexpectedChanges })
      .all,
  ]);
  return results.filter(({ status }) => status !== "ok" && status !== "skipped");
}

describe("the database", () => {
  test("has no findings when it is correct", async () => {
    expect(await examine({})).toEqual([]);
  });

  test("has a scanner and a settler of every chain, if processes have some of them [T320]", async () => {
    const held = (role: "scanner" | "settler", chainId?: number) => ({
      role,
      ...(chainId === undefined ? {} : { chainId }),
    });
    const [first, second] = config.chains.map(({ chainId }) => chainId);
    const spread = [held("scanner"), held("settler", first), held("settler", second)];
    expect(await examine({ heldRoles: spread })).toEqual([]);
    expect(await examine({ heldRoles: spread.slice(0, 2) })).toMatchObject([
      {
        id: "database.claim",
        status: "problem",
        found: "running: scanner, settler of ethereum; missing: settler of base",
      },
    ]);
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
      { connectionsMax: 92 },
      {
        id: "database.connections",
        status: "warning",
        found: "92 that PostgreSQL allows",
        expected: "at least 93, for one process per role with databaseConnections",
      },
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

  test("is a warning with a quarantine, and a problem with a breach that halts a chain [T159]", async () => {
    const account = toEvmAddress(`0x${"11".repeat(20)}`);
    const quarantine = {
      id: "1",
      chainId: 2,
      holding: { wallet: account, token: account },
      verdict: "wallet_short",
    } as const;
    expect(await examine({}, [quarantine])).toMatchObject([
      {
        id: "database.ledger",
        status: "warning",
        found: "breaches that halt a chain: 0, quarantines: 1",
      },
    ]);
    expect(await examine({}, [quarantine, { id: "2", chainId: 30, verdict: null }])).toMatchObject([
      {
        id: "database.ledger",
        status: "problem",
        found: "breaches that halt a chain: 1 (chains 30), quarantines: 1",
      },
    ]);
    const unproved = { id: "3", chainId: 30, verdict: "payout_unproved" } as const;
    expect(await examine({}, [unproved])).toMatchObject([
      {
        id: "database.ledger",
        status: "warning",
        found: "breaches that halt a chain: 0, quarantines: 0, payouts that are not proved: 1",
      },
    ]);
  });

  test("accepts a commit that also waits for other servers as durable", async () => {
    const durability = { ...IN_ORDER.durability, synchronous_commit: "remote_apply" };
    expect(await examine({ durability })).toEqual([]);
  });

  test("is reported once when it is unreachable", async () => {
    const readDatabase = async () => {
      throw new OperatingError("CONFIG_MISSING", "It cannot be used.");
    };
    const listBreaches = async () => [];
    const results = await runChecks([
      checkDatabase({
        config,
        readDatabase,
        listBreaches,
        listOverdueClaims,
        listUnexpectedChanges,
      }).all,
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      "problem",
      ...Array.from({ length: 10 }, () => "skipped"),
    ]);
  });

  test("reports claims that are not made hours after their locks", async () => {
    const readDatabase = async () => IN_ORDER;
    const overdue = [
      { kind: "24h", srcChain: 2 },
      { kind: "6h", srcChain: 2 },
    ];
    const results = await runChecks([
      checkDatabase({
        config,
        readDatabase,
        listBreaches: async () => [],
        listOverdueClaims: async () => overdue,
        listUnexpectedChanges,
      }).all,
    ]);
    expect(results.filter(({ status }) => status === "problem")).toMatchObject([
      {
        id: "database.claims",
        found: "claims not made: 2 (chains 2; 24h, 6h after their locks)",
      },
    ]);
  });

  test("reports changes of the contracts that nobody expected [T250]", async () => {
    const examineChanges = async (
      changes: Awaited<ReturnType<DoctorDeps["listUnexpectedChanges"]>>,
    ) => {
      const ports = { readDatabase: async () => IN_ORDER, listBreaches: async () => [] };
      const results = await runChecks([
        checkDatabase({
          config,
          ...ports,
          listOverdueClaims,
          listUnexpectedChanges: async () => changes,
        }).all,
      ]);
      return results.find(({ id }) => id === "database.governance");
    };
    const change = { id: 7n, chainId: 2, role: "attestor" } as const;
    expect(await examineChanges([{ ...change, state: "pending" }])).toMatchObject({
      status: "problem",
      found: "7: attestor pending on chain 2",
    });
    expect(await examineChanges([{ ...change, state: "removed" }])).toMatchObject({
      status: "warning",
    });
    expect(await examineChanges([])).toMatchObject({ status: "ok", found: "no unexpected change" });
    expect(await examineChanges(null)).toMatchObject({
      status: "ok",
      found: "not watched yet: the auditor reads them",
    });
  });
});
