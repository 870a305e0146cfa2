/** The commands of an operator during an incident, on a real database. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SettlementStatus } from "@sluice/sdk/wire";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { EVM_CHAIN, NO_NODE, SECRETS } from "../../test/support/command-line.ts";
import { type Commands, type Outcome, startCommands } from "../../test/support/commands.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import {
  createTenant,
  insertAddress,
  insertSettlement,
  type Tenant,
  USDC,
} from "../../test/support/tenants.ts";

const LANE = `0x${"1a".repeat(20)}`;
let database: TestDatabase;
let folder: string;
let tenant: Tenant;
let commands: Commands;

beforeAll(() => {
  commands = startCommands();
});
afterAll(() => commands.stop());

beforeEach(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), "sluice-operator-"));
  const attestor = { key: { env: "ATTESTOR" }, rpcUrls: { 30: NO_NODE } };
  const file = { apiKeyPepper: { env: "PEPPER" }, attestor, chains: [EVM_CHAIN], routes: [] };
  const screening = { denied: [LANE] };
  writeFileSync(
    join(folder, "sluice.json"),
    JSON.stringify({ ...file, stateDir: "state", feeBps: 10, screening }),
  );
  tenant = await createTenant(database.db);
});
afterEach(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

function run(...args: readonly string[]): Promise<Outcome> {
  const env = { ...SECRETS, DATABASE_URL: database.url };
  return commands.run({ args, cwd: folder, env, input: "" });
}

async function runJson(...args: readonly string[]) {
  const { stdout, stderr, code } = await run(...args, "--json");
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

async function insertFailing(status: SettlementStatus, ageHours: number): Promise<string> {
  const address = await insertAddress(database.db, tenant);
  const error = { code: "NO_ROUTE", retryable: true };
  const id = await insertSettlement(database.db, tenant, address, { status, chainId: 30, error });
  await database.db
    .updateTable("settlements")
    .set({
      step: "sweep",
      route: "SWIFT",
      retry_at: sql<string>`clock_timestamp() + interval '1 hour'`,
      updated_at: sql<string>`clock_timestamp() - ${ageHours} * interval '1 hour'`,
    })
    .where("id", "=", id)
    .execute();
  return id;
}

describe("settlements retry", () => {
  test("retries the failing settlements of a filter, on record, and nothing in a dry run", async () => {
    const old = await insertFailing("failed_swap", 5);
    const recent = await insertFailing("failed_swap", 1);
    const other = await insertFailing("deferred", 5);
    const filter = ["--status", "failed_swap", "--chain", "base", "--older-than", "2h"];
    const settlements = ["settlements", "retry", ...filter, "--reason", "case 12"];
    expect(await runJson(...settlements, "--dry-run")).toMatchObject({
      dryRun: true,
      settlements: [{ id: old, status: "failed_swap", errorCode: "NO_ROUTE" }],
    });
    expect(await database.db.selectFrom("operator_actions").selectAll().execute()).toEqual([]);
    expect(await runJson(...settlements)).toMatchObject({
      outcomes: [{ id: old, kind: "rescheduled", changed: true }],
    });
    expect(await database.db.selectFrom("operator_actions").selectAll().execute()).toMatchObject([
      {
        settlement_id: old,
        action: "retry",
        reason: "case 12",
        operator: expect.stringMatching("@"),
      },
    ]);
    const listed = async (...parts: readonly string[]) => {
      const { settlements: found } = await runJson(...settlements, "--dry-run", ...parts);
      return found.length;
    };
    expect(await listed("--token", USDC, "--route", "SWIFT", "--code", "NO_ROUTE")).toBe(1);
    expect(await listed("--token", "native")).toBe(0);
    expect(await listed("--route", "MONO_CHAIN")).toBe(0);
    expect(await listed("--code", "RPC_UNAVAILABLE")).toBe(0);
    const all = await runJson("settlements", "retry", "--reason", "case 13");
    expect(all.outcomes).toMatchObject([
      { id: old, changed: false },
      { id: other, changed: true },
      { id: recent, changed: true },
    ]);
    const named = await run("settlements", "retry", "--integrator", "nobody", "--reason", "x");
    expect(named.code).toBe(1);
  });

  test("refuses filters that it cannot read", async () => {
    const wrong = [
      ["--status", "completed", "expected some of failed_deploy"],
      ["--older-than", "soon", "expected a span such as 30m"],
      ["--chain", "nowhere", "its bridge id or its name"],
      ["--token", USDC, "--token: expected --chain beside it"],
      ["--route", "TELEPORT", "--route: expected MONO_CHAIN"],
      ["--code", "OOPS", "--code: expected one of"],
    ] as const;
    for (const [option, value, expected] of wrong) {
      const { code, stderr } = await run("settlements", "retry", option, value, "--reason", "x");
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(expected) });
    }
  });
});

test("scanner skip and reread are recorded, and refuse chains that are not configured", async () => {
  const about = ["--reason", "no node answers"];
  expect(await runJson("scanner", "skip", "--chain", "base", "--block", "7", ...about)).toEqual({
    chainId: 30,
    skipped: "7",
  });
  const blocks = ["--from", "5", "--to", "9"];
  expect(await runJson("scanner", "reread", "--chain", "30", ...blocks, ...about)).toEqual({
    chainId: 30,
    from: "5",
    to: "9",
  });
  const orders = await database.db.selectFrom("scanner_orders").selectAll().orderBy("id").execute();
  expect(orders).toMatchObject([
    { chain_id: 30, kind: "skip", from_block: 7n, reason: "no node answers" },
    { chain_id: 30, kind: "reread", from_block: 5n, through_block: 9n, next_block: 5n },
  ]);
  const unknown = await run("scanner", "skip", "--chain", "2", "--block", "7", ...about);
  expect(unknown).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("expected an EVM chain of the configuration (30)"),
  });
  const turned = await run(
    "scanner",
    "reread",
    "--chain",
    "30",
    "--from",
    "9",
    "--to",
    "5",
    ...about,
  );
  expect(turned.code).toBe(1);
});

test("transactions are listed, cancelled and filled by nonce, on record", async () => {
  const { db } = database;
  await db
    .insertInto("lanes")
    .values({ chain_id: 30, address: LANE, purpose: "settle", next_nonce: 2 })
    .execute();
  const call = { chain_id: 30, lane: LANE, to_address: LANE, data: "0x", value: "0", gas: 1n };
  const id = crypto.randomUUID();
  await db
    .insertInto("transactions")
    .values({ id, ...call, intent: `sweep:${id}:1`, nonce: 1, state: "assigned" })
    .execute();
  expect(await runJson("transactions", "list", "--chain", "base")).toMatchObject({
    transactions: [{ chainId: 30, nonce: 1, state: "assigned", attempts: 0, cancelled: false }],
  });
  expect(await runJson("transactions", "list", "--chain", "ethereum")).toEqual({
    transactions: [],
  });
  const about = ["--reason", "stuck"];
  expect(await runJson("transactions", "cancel", "base", LANE, "1", ...about)).toEqual({
    intent: `sweep:${id}:1`,
    changed: true,
  });
  expect(await runJson("transactions", "cancel", "30", LANE, "1", ...about)).toMatchObject({
    changed: false,
  });
  expect(await runJson("transactions", "fill", "30", LANE, "0", ...about)).toMatchObject({
    changed: true,
  });
  expect((await run("transactions", "list")).stdout).toMatch(
    /nonce 0 .* fill:.*\n.*nonce 1 {2}assigned, cancelled/,
  );
  const refused = await run("transactions", "fill", "30", LANE, "9", ...about);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("Expected a nonce") });
  const wrong = await run("transactions", "cancel", "nowhere", LANE, "1", ...about);
  expect(wrong.code).toBe(2);
  expect(await db.selectFrom("lane_actions").selectAll().orderBy("id").execute()).toMatchObject([
    { action: "cancel", nonce: 1, reason: "stuck" },
    { action: "fill", nonce: 0, reason: "stuck" },
  ]);
});

test("a screening is listed and decided, on record", async () => {
  const address = await insertAddress(database.db, tenant);
  const { rows } = await database.pool.query<{ id: string }>(
    `insert into deposits (id, chain_id, wallet, token, tx_hash, ordinal, log_index, sender, amount, block_number,
       block_hash, address_id, integrator_id, queued)
     select gen_random_uuid(), 30, wallet, '${LANE}', '0x01', 0, 0, '${LANE}', 5, 1, '0x', id, integrator_id, true
       from addresses where id = $1 returning id`,
    [address.id],
  );
  const id = rows[0]?.id ?? "";
  expect(await runJson("screening", "hold", id, "--reason", "case 12")).toMatchObject({
    verdict: "refuse",
    changed: true,
  });
  expect((await run("screening", "list")).stdout).toContain(`${id}  refuse by operator`);
  expect(await runJson("screening", "allow", id, "--reason", "cleared")).toMatchObject({
    changed: true,
  });
  expect((await run("screening", "list")).stdout).toBe("no deposit waits\n");
  expect((await runJson("screening", "list", "--all")).deposits).toMatchObject([
    { depositId: id, verdict: "allow", source: "operator", amount: "5" },
  ]);
  const wrong = await run("screening", "allow", "7", "--reason", "x");
  expect(wrong.code).toBe(2);
});

test("a chain is drained, and retired only once nothing is open there [T177]", async () => {
  const { db, pool } = database;
  const id = await insertFailing("failed_swap", 1);
  const about = ["--reason", "no longer used"];
  expect(await runJson("chain", "drain", "--chain", "base", ...about)).toMatchObject({
    chainId: 30,
    changed: true,
    left: { settlements: 1, deliveries: 0, bridgeTransfers: 0, transactions: 0, balances: [] },
  });
  const refused = await run("chain", "retire", "--chain", "base", ...about);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("not ended: 1") });
  await db
    .updateTable("settlements")
    .set({ status: "dead", step: "done", error_retryable: false })
    .where("id", "=", id)
    .execute();
  await pool.query(
    `insert into ledger_lines (posting, reason, ref, account, owner, chain_id, token, amount, block_number)
     values (1, 'deposit', 'x', 'wallet', $1, 30, $1, 7, 1), (1, 'deposit', 'x', 'external', '', 30, $1, -7, 1)`,
    [LANE],
  );
  const held = await run("chain", "retire", "--chain", "base", ...about);
  expect(held).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/deposit addresses: 7 of 0x1a.*\n.*--leave-balances/i),
  });
  const retire = ["chain", "retire", "--chain", "base", "--leave-balances", ...about];
  expect(await runJson(...retire)).toMatchObject({ changed: true });
  expect((await run("chain", "show", "--chain", "30")).stdout).toContain("chain 30 is retired");
  expect(await db.selectFrom("chain_actions").selectAll().orderBy("id").execute()).toMatchObject([
    { action: "drain", reason: "no longer used", operator: expect.stringMatching("@") },
    { action: "retire" },
  ]);
});

describe("governance", () => {
  const STRANGER = `0x${"5e".repeat(20)}`;

  /** Inserts a scheduled attestor as the watch does, and returns its number. */
  async function insertScheduled(readyInS: number): Promise<string> {
    const change = {
      chain_id: 30,
      block_number: 7n,
      log_index: 0,
      tx_hash: `0x${"7c".repeat(32)}`,
      contract: LANE,
      role: "attestor",
      subject: STRANGER,
      step: "scheduled",
      ready_at: BigInt(Math.floor(Date.now() / 1000) + readyInS),
      at_deployment: false,
    };
    const { id } = await database.db
      .insertInto("governance_changes")
      .values(change)
      .returning("id")
      .executeTakeFirstOrThrow();
    return `${id}`;
  }

  test("list shows the time left of a change, fails until it is expected, and cancel prints the call [T251]", async () => {
    const change = await insertScheduled(6 * 86_400 + 3_600);
    const unexpected = await run("governance", "list", "--kept");
    expect(unexpected).toMatchObject({ code: 1 });
    expect(unexpected.stdout).toMatch(
      /^\d+ {2}base {2}attestor 0x5e5E\w+ {2}pending, can be executed in 6 d 1 h, until [^ ]+Z {2}NOT EXPECTED$/m,
    );
    const { transaction } = await runJson("governance", "cancel", change);
    // cancel(bytes32,address) of the role's hash and the account.
    expect(transaction).toMatchObject({ from: "owner or guardian", value: "0" });
    expect(transaction.data).toMatch(
      new RegExp(`^0x[0-9a-f]{72}${"0".repeat(24)}${"5e".repeat(20)}$`),
    );
    await runJson("governance", "expect", change, "--reason", "the new attestor");
    expect(await runJson("governance", "list", "--kept", "--chain", "base")).toMatchObject({
      changes: [
        {
          change,
          role: "attestor",
          state: "pending",
          isExpected: true,
          expected: { reason: "the new attestor" },
        },
      ],
    });
    const nothing = await run("governance", "list", "--kept", "--chain", "ethereum");
    expect(nothing).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Nothing is scheduled"),
    });
  });

  test("commands refuse numbers that are no standing change", async () => {
    for (const [number, expected] of [
      ["0x1", "expected a number"],
      ["999", "is unknown"],
    ] as const) {
      const { code, stderr } = await run("governance", "cancel", number);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(expected) });
    }
  });

  test("list without nodes that answer says so", async () => {
    const { code, stderr } = await run("governance", "list");
    expect(code).toBe(1);
    expect(stderr).toContain("node did not give a usable answer");
  });
});
