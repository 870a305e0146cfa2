/** Endpoints and their secrets, as their owner manages them. */
import { EVENT_TYPES, EXTENDED_EVENT_TYPES } from "@sluice/sdk/wire";
import { sql } from "kysely";
import { OperatingError } from "../core/errors.ts";
import type { Clock, Random } from "../core/ports.ts";
import type { Secret } from "../core/secret.ts";
import { formatStamp } from "../core/stamp.ts";
import { inTransaction } from "../db/in-transaction.ts";
import type { Db, Tx } from "../db/schema.ts";
import { getNewestStamp } from "../events/index.ts";
import type { AddressRules } from "./address-rules.ts";
import { createSecret, sealSecret, type WebhookScheme } from "./secrets.ts";
import type { DisabledReason, EndpointFacts, EndpointWithSecret, SecretFacts } from "./types.ts";
import { parseEndpointUrl } from "./url.ts";

export interface EndpointDeps {
  readonly db: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly pepper: Secret;
  readonly rules: AddressRules;
  /** The most endpoints of an integrator. */
  readonly endpointsMax: number;
}

/** Settings of an endpoint that its owner chooses. */
export interface EndpointSettings {
  readonly url: string;
  readonly description: string | null;
  readonly types: readonly string[] | null;
  readonly extended: boolean;
  readonly ordered: boolean;
}

/** Settings to change; absent ones stay. */
type SettingsChange = {
  readonly [Name in keyof EndpointSettings]?: EndpointSettings[Name] | undefined;
};

/** A page of a list: its items are strictly older than the cursor. */
export interface ListPage {
  readonly limit: number;
  readonly cursor: { readonly stamp: string; readonly id: string } | undefined;
}

/** Valid secrets of an endpoint: the newest, and the one before it until it expires. */
const SECRETS_MAX = 2;
/** A stamp before every event. */
const BEGINNING = "0001-01-01T00:00:00.000Z";

/**
 * Creates an endpoint that receives the events from now on.
 * @throws OperatingError VALIDATION_ERROR naming the field.
 */
export async function createEndpoint(
  deps: EndpointDeps,
  {
    integratorId,
    scheme,
    ...settings
  }: EndpointSettings & { readonly integratorId: string; readonly scheme: WebhookScheme },
): Promise<EndpointWithSecret> {
  const { db, clock, random, endpointsMax } = deps;
  const url = checkUrl(settings.url, deps.rules);
  checkTypes(settings);
  const id = random.uuid();
  const now = formatStamp(clock.now());
  const secret = await inTransaction(db, async (tx) => {
    const since = await holdCursor(tx, integratorId);
    const { count } = await tx
      .selectFrom("webhook_endpoints")
      .select(({ fn }) => fn.countAll<bigint>().as("count"))
      .where("integrator_id", "=", integratorId)
      .executeTakeFirstOrThrow();
    if (count >= BigInt(endpointsMax)) {
      throw invalid("url", `at most ${endpointsMax} endpoints; delete one that is not used`);
    }
    await tx
      .insertInto("webhook_endpoints")
      .values({
        id,
        integrator_id: integratorId,
        url,
        description: settings.description,
        types: settings.types === null ? null : [...settings.types],
        extended: settings.extended,
        ordered: settings.ordered,
        state: "enabled",
        since,
        created_at: now,
      })
      .execute();
    return insertSecret(tx, deps, { endpointId: id, scheme, now });
  });
  return { ...(await getEndpoint(db, { integratorId, id })), secret };
}

/** Returns the endpoints of an integrator, newest first. `more` is true when another one exists. */
export async function listEndpoints(
  db: Db,
  integratorId: string,
  { limit, cursor }: ListPage,
): Promise<{ readonly items: readonly EndpointFacts[]; readonly more: boolean }> {
  let query = db
    .selectFrom("webhook_endpoints")
    .selectAll()
    .where("integrator_id", "=", integratorId)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1);
  if (cursor) {
    query = query.where(
      sql<boolean>`(created_at, id) < (${cursor.stamp}::timestamptz, ${cursor.id}::uuid)`,
    );
  }
  const rows = await query.execute();
  const shown = rows.slice(0, limit);
  const secrets = await listSecrets(
    db,
    shown.map(({ id }) => id),
  );
  return { items: shown.map((row) => toFacts(row, secrets)), more: rows.length > limit };
}

/** Identifies an endpoint of an integrator. */
export interface EndpointRef {
  readonly integratorId: string;
  readonly id: string;
}

/** Returns an endpoint. @throws OperatingError NOT_FOUND, also for one of another integrator. */
export async function getEndpoint(db: Db | Tx, ref: EndpointRef): Promise<EndpointFacts> {
  const row = await db
    .selectFrom("webhook_endpoints")
    .selectAll()
    .where("id", "=", ref.id)
    .where("integrator_id", "=", ref.integratorId)
    .executeTakeFirst();
  if (!row) throw notFound();
  return toFacts(row, await listSecrets(db, [row.id]));
}

/**
 * Changes settings of an endpoint; absent ones stay. To enable an endpoint ends its failures: it receives the events from
 * then on, and deliveries that were pending go on.
 * @throws OperatingError NOT_FOUND; VALIDATION_ERROR naming the field.
 */
export async function updateEndpoint(
  deps: Pick<EndpointDeps, "db" | "clock" | "rules">,
  {
    integratorId,
    id,
    enabled,
    ...settings
  }: EndpointRef & SettingsChange & { readonly enabled?: boolean | undefined },
): Promise<EndpointFacts> {
  const { db, clock, rules } = deps;
  const url = settings.url === undefined ? undefined : checkUrl(settings.url, rules);
  return inTransaction(db, async (tx) => {
    const since = await holdCursor(tx, integratorId);
    const row = await tx
      .selectFrom("webhook_endpoints")
      .select(["state", "types", "extended"])
      .where("id", "=", id)
      .where("integrator_id", "=", integratorId)
      .forUpdate()
      .executeTakeFirst();
    if (!row) throw notFound();
    const { types = row.types, extended = row.extended } = settings;
    if (settings.types !== undefined || settings.extended !== undefined) {
      checkTypes({ types, extended });
    }
    const change = {
      ...columnsOf(settings),
      ...(url === undefined ? {} : { url }),
      ...changeState(row.state, enabled, { since, now: formatStamp(clock.now()) }),
    };
    if (Object.keys(change).length > 0) {
      await tx.updateTable("webhook_endpoints").set(change).where("id", "=", id).execute();
    }
    return getEndpoint(tx, { integratorId, id });
  });
}

/** Refuses types of which no event would ever be sent: a misspelled one, and an addition without `extended`. */
function checkTypes({ types, extended }: Pick<EndpointSettings, "types" | "extended">): void {
  const sent: readonly string[] = extended ? EXTENDED_EVENT_TYPES : EVENT_TYPES;
  if (types?.every((type) => sent.includes(type)) ?? true) return;
  const others = extended ? "" : `; others, such as ${EXTENDED_EVENT_TYPES[2]}, with extended`;
  throw invalid("types", `some of ${sent.join(", ")}${others}`);
}

function changeState(
  state: string,
  enabled: boolean | undefined,
  { since, now }: { readonly since: string; readonly now: string },
) {
  if (enabled === true && state === "disabled") {
    return {
      state: "enabled",
      disabled_at: null,
      disabled_reason: null,
      failing_since: null,
      still_failing_at: null,
      not_before: null,
      since,
    };
  }
  if (enabled === false && state === "enabled") {
    return { state: "disabled", disabled_at: now, disabled_reason: "requested" };
  }
  return {};
}

/** Deletes an endpoint and its secrets; nothing is sent to it any more. @throws OperatingError NOT_FOUND. */
export async function deleteEndpoint(db: Db, { integratorId, id }: EndpointRef): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom("webhook_endpoints")
    .where("id", "=", id)
    .where("integrator_id", "=", integratorId)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw notFound();
}

/**
 * Creates a secret of an endpoint. The one before it signs as well until the overlap ends; older ones end at once.
 * @throws OperatingError NOT_FOUND.
 */
export async function rotateSecret(
  deps: EndpointDeps,
  {
    integratorId,
    id,
    scheme,
    overlapSeconds,
  }: EndpointRef & { readonly scheme: WebhookScheme | undefined; readonly overlapSeconds: number },
): Promise<EndpointWithSecret> {
  const { db, clock } = deps;
  const nowMs = clock.now();
  const secret = await inTransaction(db, async (tx) => {
    const row = await tx
      .selectFrom("webhook_endpoints")
      .select("id")
      .where("id", "=", id)
      .where("integrator_id", "=", integratorId)
      .forUpdate()
      .executeTakeFirst();
    if (!row) throw notFound();
    const newest = await tx
      .selectFrom("webhook_secrets")
      .select(["id", "scheme"])
      .where("endpoint_id", "=", id)
      .where("expires_at", "is", null)
      .executeTakeFirstOrThrow();
    await tx
      .deleteFrom("webhook_secrets")
      .where("endpoint_id", "=", id)
      .where("expires_at", "is not", null)
      .execute();
    await tx
      .updateTable("webhook_secrets")
      .set({ expires_at: formatStamp(nowMs + overlapSeconds * 1_000) })
      .where("id", "=", newest.id)
      .execute();
    // CAST: the column's check constraint allows only these values.
    const chosen = scheme ?? (newest.scheme as WebhookScheme);
    return insertSecret(tx, deps, { endpointId: id, scheme: chosen, now: formatStamp(nowMs) });
  });
  return { ...(await getEndpoint(db, { integratorId, id })), secret };
}

/** Returns the endpoint's row under the lock that its deliveries and settings share. */
async function holdCursor(tx: Tx, integratorId: string): Promise<string> {
  const newest = (await getNewestStamp(tx, integratorId)) ?? BEGINNING;
  await tx
    .insertInto("webhook_cursors")
    .values({ integrator_id: integratorId, cursor: newest })
    .onConflict((conflict) => conflict.column("integrator_id").doNothing())
    .execute();
  await tx
    .selectFrom("webhook_cursors")
    .select("cursor")
    .where("integrator_id", "=", integratorId)
    .forUpdate()
    .execute();
  // Read again: the cursor may have passed events that were committed while this waited for it.
  return (await getNewestStamp(tx, integratorId)) ?? BEGINNING;
}

/** Inserts a new secret. Returns its text for the owner; null for `v1a`, whose private key stays here. */
async function insertSecret(
  tx: Tx,
  { random, pepper }: Pick<EndpointDeps, "random" | "pepper">,
  {
    endpointId,
    scheme,
    now,
  }: { readonly endpointId: string; readonly scheme: WebhookScheme; readonly now: string },
): Promise<string | null> {
  const id = random.uuid();
  const { secret, publicKey } = createSecret(scheme);
  await tx
    .insertInto("webhook_secrets")
    .values({
      id,
      endpoint_id: endpointId,
      scheme,
      sealed: sealSecret(pepper, id, secret),
      public_key: publicKey,
      created_at: now,
    })
    .execute();
  return publicKey === null ? secret.reveal() : null;
}

async function listSecrets(
  db: Db | Tx,
  endpointIds: readonly string[],
): Promise<readonly (SecretFacts & { readonly endpointId: string })[]> {
  if (endpointIds.length === 0) return [];
  const rows = await db
    .selectFrom("webhook_secrets")
    .select(["id", "endpoint_id", "scheme", "public_key", "created_at", "expires_at"])
    .where("endpoint_id", "in", endpointIds)
    .orderBy("created_at", "desc")
    .orderBy(sql`expires_at desc nulls first`)
    .execute();
  return rows.map((row) => ({
    endpointId: row.endpoint_id,
    id: row.id,
    // CAST: the column's check constraint allows only these values.
    scheme: row.scheme as WebhookScheme,
    publicKey: row.public_key,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }));
}

interface EndpointRow {
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  readonly types: readonly string[] | null;
  readonly extended: boolean;
  readonly ordered: boolean;
  readonly state: string;
  readonly disabled_reason: string | null;
  readonly disabled_at: string | null;
  readonly failing_since: string | null;
  readonly created_at: string;
}

function toFacts(
  row: EndpointRow,
  secrets: readonly (SecretFacts & { readonly endpointId: string })[],
): EndpointFacts {
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    types: row.types,
    extended: row.extended,
    ordered: row.ordered,
    state: row.state === "enabled" ? "enabled" : "disabled",
    // CAST: the column's check constraint allows only these values.
    disabledReason: row.disabled_reason as DisabledReason | null,
    disabledAt: row.disabled_at,
    failingSince: row.failing_since,
    secrets: secrets
      .filter(({ endpointId }) => endpointId === row.id)
      .slice(0, SECRETS_MAX)
      .map(({ endpointId: _of, ...facts }) => facts),
    createdAt: row.created_at,
  };
}

/** Returns the columns of given settings, without the URL. */
function columnsOf({ description, types, extended, ordered }: SettingsChange) {
  return {
    ...(description === undefined ? {} : { description }),
    ...(types === undefined ? {} : { types: types === null ? null : [...types] }),
    ...(extended === undefined ? {} : { extended }),
    ...(ordered === undefined ? {} : { ordered }),
  };
}

function checkUrl(text: string, rules: AddressRules): string {
  const parsed = parseEndpointUrl(text, rules);
  if (parsed.kind === "refused") throw invalid("url", parsed.expected);
  return parsed.url.href;
}

export function notFound(): OperatingError {
  return new OperatingError("NOT_FOUND", "There is no such webhook endpoint of yours.");
}

export function invalid(field: string, expected: string): OperatingError {
  return new OperatingError("VALIDATION_ERROR", `${field}: expected ${expected}.`, {
    details: { field },
  });
}
