/**
 * Pay links: read-only access to one deposit address for its payer. A token is 24 random bytes; only a keyed hash of it is
 * stored, so that a copy of the database opens no page.
 */
import { createHmac } from "node:crypto";
import { PAY_LINK_SECONDS, PAY_TOKEN_PATTERN, type PayLink, UUID_PATTERN } from "@sluice/sdk/wire";
import { sql } from "kysely";
import { findAddress } from "../addresses/index.ts";
import { OperatingError } from "../core/errors.ts";
import type { Random } from "../core/ports.ts";
import { createRandomToken } from "../core/random-token.ts";
import type { Secret } from "../core/secret.ts";
import type { Db } from "../db/schema.ts";

/** Sources of a new link. */
export interface PayLinkDeps {
  readonly db: Db;
  readonly random: Random;
  readonly pepper: Secret;
}

/** Title of a link: text that a page shows, without control characters. */
const TITLE = /^[^\p{C}]{1,100}$/u;
/** Time for which an expired link is still answered as expired. Afterwards it is unknown. */
const KEPT_DAYS = 30;
const KEPT = sql`${KEPT_DAYS} * interval '1 day'`;

/**
 * Creates a link to an address of an integrator. The token is returned once.
 * @throws OperatingError NOT_FOUND if the integrator has no such address; VALIDATION_ERROR naming the field.
 */
export async function createPayLink(
  { db, random, pepper }: PayLinkDeps,
  args: {
    readonly integratorId: string;
    readonly depositAddressId: string;
    readonly title?: string | undefined;
    readonly expiresInSeconds?: number | undefined;
  },
): Promise<PayLink & { readonly token: string }> {
  const { integratorId, depositAddressId, title = null } = args;
  const { expiresInSeconds = PAY_LINK_SECONDS.default } = args;
  if (title !== null && !TITLE.test(title)) {
    throw invalid("title", "1 to 100 printable characters");
  }
  const { min, max } = PAY_LINK_SECONDS;
  if (!Number.isInteger(expiresInSeconds) || expiresInSeconds < min || expiresInSeconds > max) {
    throw invalid("expiresInSeconds", `a whole number of seconds from ${min} to ${max}`);
  }
  const address =
    new RegExp(UUID_PATTERN).test(depositAddressId) &&
    (await findAddress(db, integratorId, { id: depositAddressId, display: String }));
  if (!address) {
    throw new OperatingError("NOT_FOUND", "There is no such deposit address of yours.");
  }
  const token = createRandomToken(random);
  const row = await db
    .insertInto("pay_links")
    .values({
      id: random.uuid(),
      integrator_id: integratorId,
      address_id: address.id,
      token_hmac: hashToken(pepper, token),
      title,
      expires_at: sql<string>`now() + ${expiresInSeconds} * interval '1 second'`,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...toLink(row), token };
}

/** Returns a page of the links of an integrator, newest first, after `cursor`. */
export async function listPayLinks(
  db: Db,
  integratorId: string,
  page: {
    readonly limit: number;
    readonly cursor: { readonly stamp: string; readonly id: string } | undefined;
  },
): Promise<{ readonly items: PayLink[]; readonly nextCursor: string | null }> {
  let query = db
    .selectFrom("pay_links")
    .selectAll()
    .where("integrator_id", "=", integratorId)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(page.limit + 1);
  const { cursor } = page;
  if (cursor) {
    query = query.where(
      sql<boolean>`(created_at, id) < (${cursor.stamp}::timestamptz, ${cursor.id}::uuid)`,
    );
  }
  const rows = await query.execute();
  const items = rows.slice(0, page.limit).map(toLink);
  const last = rows.length > page.limit ? items.at(-1) : undefined;
  return { items, nextCursor: last ? `${last.createdAt}_${last.id}` : null };
}

/**
 * Revokes a link of an integrator: its page and stream are refused from now on.
 * @throws OperatingError NOT_FOUND if the integrator has no such link that is not revoked.
 */
export async function revokePayLink(
  db: Db,
  { integratorId, id }: { readonly integratorId: string; readonly id: string },
): Promise<void> {
  const result = new RegExp(UUID_PATTERN).test(id)
    ? await db
        .updateTable("pay_links")
        .set({ revoked_at: sql<string>`now()` })
        .where("id", "=", id)
        .where("integrator_id", "=", integratorId)
        .where("revoked_at", "is", null)
        .executeTakeFirst()
    : undefined;
  if (result?.numUpdatedRows !== 1n) {
    throw new OperatingError("NOT_FOUND", "There is no such pay link of yours.");
  }
}

/** The one address that a token shows. */
export interface OpenPayLink {
  readonly id: string;
  readonly integratorId: string;
  readonly addressId: string;
  readonly title: string | null;
  readonly expiresAt: string;
}

/**
 * Returns the link of a token as received on the wire. The lookup is by keyed hash, so its timing reveals nothing.
 * @throws OperatingError NOT_FOUND in words for the payer; with reason `expired` or `revoked` where the link once existed.
 */
export async function openPayLink(
  { db, pepper }: Pick<PayLinkDeps, "db" | "pepper">,
  token: unknown,
): Promise<OpenPayLink> {
  const isToken = typeof token === "string" && new RegExp(PAY_TOKEN_PATTERN).test(token);
  const row = isToken
    ? await db
        .selectFrom("pay_links")
        .selectAll()
        .select(sql<boolean>`expires_at <= now()`.as("is_expired"))
        .where("token_hmac", "=", hashToken(pepper, token))
        .executeTakeFirst()
    : undefined;
  if (!row) throw refused("unknown", "This payment link is not known. Check that it is complete.");
  if (row.revoked_at !== null) {
    throw refused("revoked", "This payment link was withdrawn. Ask its sender for a new one.");
  }
  if (row.is_expired) {
    throw refused("expired", "This payment link has expired. Ask its sender for a new one.");
  }
  return {
    id: row.id,
    integratorId: row.integrator_id,
    addressId: row.address_id,
    title: row.title,
    expiresAt: row.expires_at,
  };
}

/** Returns those of the links that may be shown now. */
export async function listOpen(db: Db, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .selectFrom("pay_links")
    .select("id")
    .where("id", "=", sql<string>`any(${[...ids]}::uuid[])`)
    .where("revoked_at", "is", null)
    .where(sql<boolean>`expires_at > now()`)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** Links that are deleted in one statement. */
const DELETED_MAX = 1_000;

/** Deletes links that expired long ago. Returns whether more may be left. */
export async function deleteOldPayLinks(db: Db): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("pay_links")
    .where("id", "in", (eb) =>
      eb
        .selectFrom("pay_links")
        .select("id")
        .where(sql<boolean>`expires_at < now() - ${KEPT}`)
        .limit(DELETED_MAX),
    )
    .executeTakeFirstOrThrow();
  return numDeletedRows === BigInt(DELETED_MAX);
}

/** Returns the path of the page of a token. */
export function payPath(token: string): string {
  return `/pay/${token}`;
}

function hashToken(pepper: Secret, token: string): Buffer {
  return createHmac("sha256", pepper.reveal()).update(`pay ${token}`).digest();
}

function toLink(row: {
  readonly id: string;
  readonly address_id: string;
  readonly title: string | null;
  readonly created_at: string;
  readonly expires_at: string;
  readonly revoked_at: string | null;
}): PayLink {
  return {
    id: row.id,
    depositAddressId: row.address_id,
    title: row.title,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}

function refused(reason: "unknown" | "revoked" | "expired", message: string): OperatingError {
  return new OperatingError("NOT_FOUND", message, { details: { reason } });
}

function invalid(field: string, expected: string): OperatingError {
  return new OperatingError("VALIDATION_ERROR", `${field}: expected ${expected}.`, {
    details: { field },
  });
}
