/** The people who may use the console, their roles, and the invitations by which they come. */
import { OPERATOR_ROLES, type OperatorRole } from "@sluice/sdk/wire";
import { sql } from "kysely";
import { OperatingError } from "../core/errors.ts";
import type { Random } from "../core/ports.ts";
import { createRandomToken } from "../core/random-token.ts";
import type { Secret } from "../core/secret.ts";
import type { Db, Tx } from "../db/schema.ts";
import { hashToken } from "./tokens.ts";

export interface Operator {
  readonly id: string;
  readonly name: string;
  readonly role: OperatorRole;
}

/** An operator as lists show it. Times are wire timestamps. */
export interface ListedOperator extends Operator {
  readonly createdAt: string;
  readonly disabledAt: string | null;
  readonly passkeys: number;
  readonly openSessions: number;
}

/** Sources of new rows. */
export interface OperatorDeps {
  readonly db: Db;
  readonly random: Random;
  readonly pepper: Secret;
}

const EMAIL = /^[^\s\p{C}@]{1,64}@[^\s\p{C}@]{1,189}$/u;
const NAME = /^[^\p{C}]{1,60}$/u;
/** Time in which an invitation can be used. */
const INVITATION_HOURS = 24;

/**
 * Invites a person: creates the operator if there is none of that name, and returns a token that signs in once, within 24
 * hours, to register a passkey. Of an operator that exists the role stays, unless one is given.
 * @throws OperatingError VALIDATION_ERROR naming the field.
 */
export async function inviteOperator(
  { db, random, pepper }: OperatorDeps,
  {
    name: given,
    role,
    identity: email,
    by,
  }: {
    readonly name: string;
    readonly role: OperatorRole | undefined;
    /** E-mail address by which the identity provider knows the person; undefined to leave it as it is. */
    readonly identity?: string | undefined;
    /** Who invites. */
    readonly by: string;
  },
): Promise<Operator & { readonly token: string }> {
  const name = given.trim();
  if (!NAME.test(name)) throw invalid("name", "1 to 60 printable characters");
  const identity = email?.trim().toLowerCase();
  if (identity !== undefined && !EMAIL.test(identity)) {
    throw invalid("identity", "an e-mail address");
  }
  const token = createRandomToken(random);
  const operator = await db.transaction().execute(async (tx) => {
    const known = await tx
      .selectFrom("operators")
      .select(["id", "name", "role", "disabled_at", "identity"])
      .where("name", "=", name)
      .forUpdate()
      .executeTakeFirst();
    if (known?.disabled_at) throw invalid("name", "an operator who is not disabled");
    if (identity !== undefined) {
      const taken = await tx
        .selectFrom("operators")
        .select("name")
        .where("identity", "=", identity)
        .where("name", "<>", name)
        .executeTakeFirst();
      if (taken) throw invalid("identity", "an address that no other operator has");
    }
    // Another address is another person, until its first sign-in. The same address keeps its person.
    const identified =
      identity === undefined || identity === known?.identity ? {} : { identity, subject: null };
    if (!known && !role) throw invalid("role", `one of ${OPERATOR_ROLES.join(", ")}`);
    const row = known
      ? await tx
          .updateTable("operators")
          .set({ role: role ?? known.role, ...identified })
          .where("id", "=", known.id)
          .returning(["id", "name", "role"])
          .executeTakeFirstOrThrow()
      : await tx
          .insertInto("operators")
          .values({ id: random.uuid(), name, role: role ?? "viewer", ...identified })
          .returning(["id", "name", "role"])
          .executeTakeFirstOrThrow();
    await tx
      .insertInto("operator_invitations")
      .values({
        token_hmac: hashToken(pepper, "invitation", token),
        operator_id: row.id,
        expires_at: sql<string>`now() + ${INVITATION_HOURS} * interval '1 hour'`,
      })
      .execute();
    await appendToLog(tx, {
      operator: by,
      action: "invite operator",
      entry: { ...toOperator(row), ...(identity !== undefined && { identity }) },
    });
    return toOperator(row);
  });
  return { ...operator, token };
}

/** Lists the operators by name. */
export async function listOperators(db: Db): Promise<readonly ListedOperator[]> {
  const rows = await db
    .selectFrom("operators as o")
    .select(["o.id", "o.name", "o.role", "o.created_at", "o.disabled_at"])
    .select(
      sql<bigint>`(select count(*) from operator_passkeys p where p.operator_id = o.id)`.as(
        "passkeys",
      ),
    )
    .select(
      sql<bigint>`(select count(*) from operator_sessions s where s.operator_id = o.id
        and s.ended_at is null and s.expires_at > now())`.as("sessions"),
    )
    .orderBy("o.name")
    .execute();
  return rows.map((row) => ({
    ...toOperator(row),
    createdAt: row.created_at,
    disabledAt: row.disabled_at,
    passkeys: Number(row.passkeys),
    openSessions: Number(row.sessions),
  }));
}

/**
 * Disables an operator: ends the sessions, and refuses passkeys and invitations from now on. Returns false if it is so
 * already.
 * @throws OperatingError NOT_FOUND without such an operator.
 */
export async function disableOperator(
  db: Db,
  { name, by, reason }: { readonly name: string; readonly by: string; readonly reason: string },
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const row = await tx
      .selectFrom("operators")
      .select(["id", "name", "role", "disabled_at"])
      .where("name", "=", name)
      .forUpdate()
      .executeTakeFirst();
    if (!row) throw new OperatingError("NOT_FOUND", `There is no operator "${name}".`);
    if (row.disabled_at !== null) return false;
    await tx
      .updateTable("operators")
      .set({ disabled_at: sql<string>`clock_timestamp()` })
      .where("id", "=", row.id)
      .execute();
    await tx
      .updateTable("operator_sessions")
      .set({ ended_at: sql<string>`clock_timestamp()` })
      .where("operator_id", "=", row.id)
      .where("ended_at", "is", null)
      .execute();
    const entry = { ...toOperator(row), reason };
    await appendToLog(tx, { operator: by, action: "disable operator", entry });
    return true;
  });
}

/** Writes a line of the operators' log that no row of another table records. */
export async function appendToLog(
  tx: Tx,
  line: { readonly operator: string; readonly action: string; readonly entry: object },
): Promise<void> {
  await sql`select append_to_operator_log(
    ${line.operator}, ${line.action}, ${JSON.stringify(line.entry)}::jsonb)`.execute(tx);
}

/** The row's operator. */
export function toOperator(row: {
  readonly id: string;
  readonly name: string;
  readonly role: string;
}): Operator {
  // CAST: held by the column's check constraint.
  return { id: row.id, name: row.name, role: row.role as OperatorRole };
}

export function invalid(field: string, expected: string): OperatingError {
  return new OperatingError("VALIDATION_ERROR", `${field}: expected ${expected}.`, {
    details: { field },
  });
}
