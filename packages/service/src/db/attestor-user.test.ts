/** A PostgreSQL user of the attestor's machine, on real connections as that user. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { toEvmAddress, toHex32 } from "../core/hex.ts";
import { ATTESTATION_KINDS } from "../routes/swift/attestation-requests.ts";
import {
  answerAttestation,
  listOpenRequests,
  rescheduleRequest,
} from "../routes/swift/attestations.ts";
import { grantAttestorUser, isAttestorUser, listWrongRights } from "./attestor-user.ts";
import { claimRoles } from "./instance.ts";
import { assertMigrated } from "./migrate.ts";
import { TABLE_OWNERS } from "./owners.ts";
import { type OpenDatabase, openDatabase } from "./pool.ts";

// A view of a join cannot be written by anybody.
const TABLES = Object.keys(TABLE_OWNERS).filter((name) => name !== "open_refunds");

const DELIVERY_ID = toHex32(`0x${"01".repeat(32)}`);
const ID = `price:${DELIVERY_ID}:1` as const;
const ADDRESS = toEvmAddress(`0x${"ad".repeat(20)}`);

let database: TestDatabase;
let user: string;
let attestor: OpenDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  user = `attestor_${process.pid}_${process.hrtime.bigint()}`;
  await database.pool.query(`create user ${user}`);
  await grantAttestorUser(database.db, user);
  attestor = await openAs(user);
  await database.pool.query(
    `insert into attestations (id, kind, delivery_id, request, deadline)
     values ('${ID}', 'price', '${DELIVERY_ID}', '{}', 9)`,
  );
});
afterAll(async () => {
  await attestor.close();
  await database.pool.query(`drop owned by ${user}; drop role ${user}`);
  await database.drop();
});

async function openAs(name: string): Promise<OpenDatabase> {
  const address = database.address;
  if (!("socketDir" in address)) throw new TypeError("the test's server has a socket");
  return openDatabase({ ...address, user: name }, { max: 2 });
}

/** Refused for lack of a right, and for no other reason. */
const DENIED = { code: "42501" };

/** Returns the names whose statements the attestor's user may run. Throws if one fails for another reason. */
async function listAllowed(statements: readonly (readonly [string, string])[]): Promise<string[]> {
  const allowed: string[] = [];
  for (const [name, statement] of statements) {
    try {
      await attestor.pool.query(statement);
      allowed.push(name);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === DENIED.code)) throw error;
    }
  }
  return allowed;
}

async function columnsOf(table: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    "select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped",
    [table],
  );
  return rows.map(({ name }) => name);
}

describe("the attestor's database user", () => {
  test("reads a request and writes its answer [T121]", async () => {
    await rescheduleRequest(attestor.db, ID, { attestor: ADDRESS, atMs: 0 });
    const due = { attestor: ADDRESS, kinds: ATTESTATION_KINDS, nowMs: 0 };
    const [open] = await listOpenRequests(attestor.db, { ...due, limit: 9 });
    expect(open?.id).toBe(ID);
    const answer = { attestor: ADDRESS, nowMs: 1, signature: "0x51", refusal: null } as const;
    await answerAttestation(attestor.db, { id: ID, ...answer });
    await answerAttestation(attestor.db, { id: ID, ...answer, signature: "0x52" });
    const { rows } = await database.pool.query(
      "select signature, written_by from attestation_answers",
    );
    expect(rows).toEqual([{ signature: "0x51", written_by: user }]);
  });

  test("neither sees nor changes another attestor's answer, nor takes its place [T121]", async () => {
    const other = `${user}_other`;
    await database.pool.query(`create user ${other}`);
    await grantAttestorUser(database.db, other);
    const second = await openAs(other);
    try {
      const forged = { attestor: ADDRESS, nowMs: 1, signature: null, refusal: "mine" } as const;
      await answerAttestation(second.db, { id: ID, ...forged });
      const own = await second.pool.query("select refusal from attestation_answers");
      expect(own.rows).toEqual([{ refusal: "mine" }]);
      const { rowCount } = await second.pool.query("update attestation_answers set refusal = 'no'");
      expect(rowCount).toBe(1);
      await expect(
        second.pool.query(
          `insert into attestation_answers (attestation_id, attestor, written_by, next_check_at)
           values ('${ID}', '0xad', '${user}', now())`,
        ),
      ).rejects.toMatchObject(DENIED);
      const { rows } = await database.pool.query(
        "select signature, written_by from attestation_answers order by written_by",
      );
      expect(rows).toEqual([
        { signature: "0x51", written_by: user },
        { signature: null, written_by: other },
      ]);
      // Each attestor's role is its own.
      const claims = [attestor, second].map(({ pool }) => claimRoles(pool, ["attestor"]));
      for (const claim of await Promise.all(claims)) await claim.release();
    } finally {
      await second.close();
      await database.pool.query(`drop owned by ${other}; drop role ${other}`);
    }
  });

  test("starts the role: schema, claim and halted chains", async () => {
    await assertMigrated(attestor.db);
    expect(await isAttestorUser(attestor.db, [user])).toBe(true);
    expect(await isAttestorUser(database.db, [user])).toBe(false);
    await attestor.pool.query("select 1 from breaches where ended_at is null");
    await (await claimRoles(attestor.pool, ["attestor"])).release();
  });

  test.each(TABLES)("inserts, deletes and truncates nothing in %s [T121]", async (table) => {
    // Its own answers it may insert, but not in the name of another user.
    const row =
      table === "attestation_answers" ? "(written_by) values ('nobody')" : "default values";
    for (const statement of [
      `insert into ${table} ${row}`,
      `delete from ${table}`,
      `truncate ${table} cascade`,
      `create trigger mine before insert on ${table} execute function refuse_ledger_change()`,
    ]) {
      await expect(attestor.pool.query(statement)).rejects.toMatchObject(DENIED);
    }
  });

  test.each(TABLES)("updates no column of %s but answers [T121]", async (table) => {
    const columns = await columnsOf(table);
    expect(columns.length).toBeGreaterThan(0);
    const updatable = await listAllowed(
      columns.map((column) => [column, `update ${table} set ${column} = default where false`]),
    );
    const answers = ["answered_at", "next_check_at", "refusal", "signature"];
    expect(updatable.sort()).toEqual(table === "attestation_answers" ? answers : []);
  });

  test("reads no table beyond requests and breaches [T121]", async () => {
    const readable = await listAllowed(
      TABLES.map((table) => [table, `select 1 from ${table} limit 1`]),
    );
    expect(readable.sort()).toEqual(["attestation_answers", "attestations", "breaches"]);
  });

  test("creates no function that other users' statements could call", async () => {
    await expect(
      attestor.pool.query("create function public.mine() returns int language sql as 'select 1'"),
    ).rejects.toMatchObject(DENIED);
  });
});

describe("granting", () => {
  test("takes away rights that the user had before", async () => {
    await database.pool.query(`grant insert, update on deliveries, transactions to ${user}`);
    expect(await listWrongRights(database.db, user)).toContain("may INSERT into deliveries");
    await grantAttestorUser(database.db, user);
    expect(await listWrongRights(database.db, user)).toEqual([]);
  });

  test("of several processes at once succeeds", async () => {
    await database.pool.query(`grant insert on deliveries to ${user}`);
    await Promise.all([1, 2, 3].map(() => grantAttestorUser(database.db, user)));
    expect(await listWrongRights(database.db, user)).toEqual([]);
  });

  test.each([
    ["a grant to everybody", "insert on deliveries", "may INSERT into deliveries"],
    ["a column open to everybody", "update (pay_amount) on deliveries", "may UPDATE deliveries"],
    ["a schema open to everybody", "create on schema public", "may create objects"],
  ])("refuses %s", async (_, right, phrase) => {
    await database.pool.query(`grant ${right} to public`);
    await expect(grantAttestorUser(database.db, user)).rejects.toMatchObject({
      code: "CONFIG_MISSING",
      message: expect.stringContaining(phrase),
    });
    await database.pool.query(`revoke ${right} from public`);
  });

  test("refuses the owner of the tables, a member of it, a superuser, and an unknown user", async () => {
    await expect(grantAttestorUser(database.db, "sluice")).rejects.toThrow(/superuser/);
    await expect(grantAttestorUser(database.db, "nobody_here")).rejects.toThrow(/create user/);
    await database.pool.query(`grant sluice to ${user}`);
    await expect(grantAttestorUser(database.db, user)).rejects.toThrow(/may act as sluice/);
  });
});
