/**
 * The database user of an attestor's machine. It answers requests for attestations in rows of its own and can change
 * nothing else, so that a thief of that machine reaches neither the intents that lanes sign, nor the amounts that
 * deliveries pay, nor the answers of other attestors. A policy of the table hides those.
 */
import { sql } from "kysely";
import { OperatingError } from "../core/errors.ts";
import type { Db } from "./schema.ts";

/** Columns of `attestation_answers` that an answer changes. */
const ANSWER_COLUMNS = ["signature", "refusal", "answered_at", "next_check_at"] as const;

/** Columns that an answer is inserted with; the database itself notes who wrote it. */
const INSERT_COLUMNS = ["attestation_id", "attestor", ...ANSWER_COLUMNS] as const;

/**
 * Tables that the attestor reads: requests, its answers and halted chains. Processes of the first release also read which
 * migrations it has.
 */
const READ_TABLES = [
  "attestations",
  "attestation_answers",
  "breaches",
  "kysely_migration",
  "kysely_migration_lock",
];

const NO_USER = "does not exist";

/** Wrong rights that an error names. */
const NAMED_MAX = 5;

/** Class of the transaction-level lock under which grants are made: PostgreSQL refuses concurrent ones. */
const LOCK_CLASS = 12;

/** Returns whether this connection is an attestor's. */
export async function isAttestorUser(db: Db, users: readonly string[]): Promise<boolean> {
  if (users.length === 0) return false;
  const { rows } = await sql<{ me: string }>`select current_user as me`.execute(db);
  return users.some((user) => user === rows[0]?.me);
}

/**
 * Checks that this connection's user, an attestor's, has its rights.
 * @throws OperatingError CONFIG_MISSING with the command that grants them.
 */
export async function assertMayAnswer(db: Db): Promise<void> {
  const { rows } = await sql<{ me: string }>`select current_user as me`.execute(db);
  const me = rows[0]?.me ?? "";
  const lacks = (await listWrongRights(db, me)).filter((phrase) => phrase.startsWith("may not "));
  if (lacks.length === 0) return;
  throw new OperatingError(
    "CONFIG_MISSING",
    `attestor.databaseUser: ${me} ${lacks.slice(0, NAMED_MAX).join(", ")}. Run \`sluice migrate\` as the owner of the tables.`,
  );
}

/**
 * Grants the attestor's user exactly its rights, if it does not have them yet.
 * @throws OperatingError CONFIG_MISSING if the user does not exist, or has rights that this cannot take away.
 */
export async function grantAttestorUser(db: Db, user: string): Promise<void> {
  const before = await listWrongRights(db, user);
  if (before.length === 0) return;
  if (before.includes(NO_USER)) {
    throw new OperatingError(
      "CONFIG_MISSING",
      `attestor.databaseUser: expected a user of the database, found none named ${user}. Create it with \`create user\` and a password.`,
    );
  }
  await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${LOCK_CLASS}, 0)`.execute(tx);
    const { rows } = await sql<{ schema: string; database: string }>`
      select current_schema() as schema, current_database() as database`.execute(tx);
    const [place] = rows;
    if (!place) throw new TypeError("expected the schema of the connection");
    const [to, schema] = [sql.id(user), sql.id(place.schema)];
    const idsOf = (columns: readonly string[]) => sql.join(columns.map((name) => sql.id(name)));
    await sql`revoke all on all tables in schema ${schema} from ${to}`.execute(tx);
    await sql`revoke all on schema ${schema} from ${to}`.execute(tx);
    await sql`grant connect on database ${sql.id(place.database)} to ${to}`.execute(tx);
    await sql`grant usage on schema ${schema} to ${to}`.execute(tx);
    await sql`grant select on ${idsOf(READ_TABLES)} to ${to}`.execute(tx);
    await sql`grant insert (${idsOf(INSERT_COLUMNS)}), update (${idsOf(ANSWER_COLUMNS)})
      on attestation_answers to ${to}`.execute(tx);
  });
  const wrong = await listWrongRights(db, user);
  if (wrong.length > 0) {
    throw new OperatingError(
      "CONFIG_MISSING",
      `attestor.databaseUser: expected a user that may write attestations only, ${user} ${wrong.slice(0, NAMED_MAX).join(", ")}.`,
    );
  }
}

/**
 * Returns how the user's rights differ from those of an attestor, each as a phrase such as `may INSERT into deposits`.
 * Counts rights from any source: grants to everybody, memberships, ownership, attributes of the user.
 */
export async function listWrongRights(db: Db, user: string): Promise<string[]> {
  const { rows: users } = await sql<{ is_strong: boolean; creates: boolean }>`
    select rolsuper or rolcreaterole or rolreplication or rolbypassrls as is_strong,
           has_schema_privilege(oid, current_schema(), 'CREATE') as creates
    from pg_roles where rolname = ${user}`.execute(db);
  const [found] = users;
  if (!found) return [NO_USER];
  const wrong: string[] = [];
  if (found.is_strong) wrong.push("is a superuser, or may create roles or replicate");
  // An object of its own could take the place of one that other users' statements name.
  if (found.creates) wrong.push("may create objects in the schema");
  const { rows } = await sql<{ phrase: string }>`
    with tables as materialized (
      select oid, relname, relowner from pg_class
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm')
    ), columns as materialized (
      select oid, relname, attname,
             relname = 'attestation_answers' and attname in (${sql.join(ANSWER_COLUMNS)}) as is_answer,
             relname = 'attestation_answers' and attname in (${sql.join(INSERT_COLUMNS)}) as is_new
      from tables join pg_attribute on attrelid = oid where attnum > 0 and not attisdropped
    )
    select 'may ' || wish || ' on ' || relname as phrase
      from tables, unnest(array['DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) as wish
      where has_table_privilege(${user}, oid, wish)
    union all
    select distinct 'may INSERT into ' || relname from columns
      where not is_new and has_column_privilege(${user}, oid, attname, 'INSERT')
    union all
    select 'may not INSERT ' || relname || '.' || attname from columns
      where is_new and not has_column_privilege(${user}, oid, attname, 'INSERT')
    union all
    select distinct 'may UPDATE ' || relname from columns
      where not is_answer and has_column_privilege(${user}, oid, attname, 'UPDATE')
    union all
    select 'may not UPDATE ' || relname || '.' || attname from columns
      where is_answer and not has_column_privilege(${user}, oid, attname, 'UPDATE')
    union all
    select 'may SELECT from ' || relname from tables
      where relname not in (${sql.join(READ_TABLES)})
      and (has_table_privilege(${user}, oid, 'SELECT')
           or has_any_column_privilege(${user}, oid, 'SELECT'))
    union all
    select 'may not SELECT from ' || relname from tables
      where relname in (${sql.join(READ_TABLES)}) and not has_table_privilege(${user}, oid, 'SELECT')
    union all
    select distinct 'may act as ' || relowner::regrole from tables
      where pg_has_role(${user}, relowner, 'MEMBER')
    order by 1`.execute(db);
  return [...wrong, ...rows.map(({ phrase }) => phrase)];
}
