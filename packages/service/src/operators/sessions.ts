/** Sessions of the console: rows that can be ended at any time. The browser has a token in a cookie, the database its keyed hash. */
import type { SignInProblem } from "@sluice/sdk/wire";
import { sql } from "kysely";
import { OperatingError } from "../core/errors.ts";
import { createRandomToken } from "../core/random-token.ts";
import type { Db, Tx } from "../db/schema.ts";
import { appendToLog, type Operator, type OperatorDeps, toOperator } from "./operators.ts";
import { hashToken, isToken } from "./tokens.ts";

/** A session that is open now. */
export interface Session {
  readonly id: string;
  readonly operator: Operator;
  readonly createdAt: string;
  readonly expiresAt: string;
  /** When a passkey last signed for it; null if none did. */
  readonly verifiedAt: string | null;
  /** Milliseconds since then. */
  readonly verifiedAgoMs: number | null;
  readonly byInvitation: boolean;
}

const SESSION_HOURS = 12;

/** Time after a passkey's signature in which an action that needs a fresh one goes through. */
export const FRESH_MS = 5 * 60_000;

/**
 * Uses up an invitation, and opens a session to look around and to register a passkey.
 * @throws OperatingError UNAUTHORIZED if the token is unknown, used, expired, or of a disabled operator.
 */
export async function openByInvitation(
  deps: OperatorDeps,
  token: unknown,
): Promise<{ readonly token: string }> {
  if (!isToken(token)) throw unusable();
  return deps.db.transaction().execute(async (tx) => {
    const used = await tx
      .updateTable("operator_invitations")
      .set({ used_at: sql<string>`clock_timestamp()` })
      .where("token_hmac", "=", hashToken(deps.pepper, "invitation", token))
      .where("used_at", "is", null)
      .where(sql<boolean>`expires_at > now()`)
      .returning("operator_id")
      .executeTakeFirst();
    if (!used) throw unusable();
    return openSession(tx, deps, { operatorId: used.operator_id, by: "invitation" });
  });
}

function unusable(): OperatingError {
  return new OperatingError(
    "UNAUTHORIZED",
    "This invitation is unknown, was used, or has expired. Ask an admin for another one.",
  );
}

/**
 * Opens a session of an operator.
 * @throws OperatingError UNAUTHORIZED if the operator is disabled.
 */
export async function openSession(
  tx: Tx,
  { random, pepper }: Omit<OperatorDeps, "db">,
  {
    operatorId,
    by,
  }: { readonly operatorId: string; readonly by: "invitation" | "passkey" | "identity" },
): Promise<{ readonly token: string }> {
  const operator = await tx
    .selectFrom("operators")
    .select(["id", "name", "role"])
    .where("id", "=", operatorId)
    .where("disabled_at", "is", null)
    .forUpdate()
    .executeTakeFirst();
  if (!operator) {
    const reason: SignInProblem = "disabled";
    throw new OperatingError("UNAUTHORIZED", "This operator is disabled.", { details: { reason } });
  }
  const token = createRandomToken(random);
  const id = random.uuid();
  await tx
    .insertInto("operator_sessions")
    .values({
      id,
      token_hmac: hashToken(pepper, "session", token),
      operator_id: operator.id,
      expires_at: sql<string>`now() + ${SESSION_HOURS} * interval '1 hour'`,
      verified_at: by === "passkey" ? sql<string>`clock_timestamp()` : null,
      by_invitation: by === "invitation",
    })
    .execute();
  await appendToLog(tx, {
    operator: nameInLog(operator),
    action: "sign in",
    entry: { session: id, by },
  });
  return { token };
}

/** Returns the open session of a token; null if it ended, expired, or its operator is disabled. */
export async function findSession(
  { db, pepper }: Omit<OperatorDeps, "random">,
  token: unknown,
): Promise<Session | null> {
  if (!isToken(token)) return null;
  const row = await db
    .selectFrom("operator_sessions as s")
    .innerJoin("operators as o", "o.id", "s.operator_id")
    .select([
      "s.id as session_id",
      "s.created_at",
      "s.expires_at",
      "s.verified_at",
      "s.by_invitation",
    ])
    .select(["o.id", "o.name", "o.role"])
    .select(
      sql<string | null>`extract(epoch from clock_timestamp() - s.verified_at) * 1000`.as("ago"),
    )
    .where("s.token_hmac", "=", hashToken(pepper, "session", token))
    .where("s.ended_at", "is", null)
    .where(sql<boolean>`s.expires_at > now()`)
    .where("o.disabled_at", "is", null)
    .executeTakeFirst();
  if (!row) return null;
  return {
    id: row.session_id,
    operator: toOperator(row),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    verifiedAt: row.verified_at,
    verifiedAgoMs: row.ago === null ? null : Number(row.ago),
    byInvitation: row.by_invitation,
  };
}

/** Ends a session; an ended one stays so. */
export async function endSession(db: Db, id: string): Promise<void> {
  await db
    .updateTable("operator_sessions")
    .set({ ended_at: sql<string>`clock_timestamp()` })
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .execute();
}

/** The name under which an operator of the console is recorded, beside the accounts of the command line. */
export function nameInLog({ name }: Pick<Operator, "name">): string {
  return `console: ${name}`;
}
