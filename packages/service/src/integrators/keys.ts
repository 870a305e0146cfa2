/** API keys: creation, rotation, revocation and authentication. Of a key only a keyed hash is stored. */
import { createHmac } from "node:crypto";
import { KEY_SCOPES, type KeyScope } from "@sluice/sdk/wire";
import { sql } from "kysely";
import { assert } from "../core/assert.ts";
import { OperatingError } from "../core/errors.ts";
import { formatNetwork, isInNetwork, parseAddress, parseNetwork } from "../core/networks.ts";
import type { Random } from "../core/ports.ts";
import type { Secret } from "../core/secret.ts";
import { compileOnce, type Places } from "../db/compiled.ts";
import { gather } from "../db/gather.ts";
import { inTransaction } from "../db/in-transaction.ts";
import type { Db, Tx } from "../db/schema.ts";
import { findIntegrator, invalid, UUID } from "./integrators.ts";

/** What a key may do, and from where. */
export interface KeyRights {
  readonly scopes: ReadonlySet<KeyScope>;
  /** Networks in canonical form; null: every address. */
  readonly allowedNetworks: readonly string[] | null;
}

/** A key and its integrator. */
export interface KeyHolder {
  readonly integratorId: string;
  readonly integratorName: string;
  readonly keyId: string;
  /** Whether quotes made with this key carry a deposit address. */
  readonly depositAddresses: boolean;
}

/** The holder of a valid API key, and the key's rights. */
export interface Principal extends KeyHolder, KeyRights {}

/** Settings of a key. Absent ones stay as they are; null removes a restriction. */
export interface KeySettings {
  readonly label?: string | null | undefined;
  readonly scopes?: readonly KeyScope[] | null | undefined;
  /** Addresses and networks in CIDR notation. */
  readonly allowedNetworks?: readonly string[] | null | undefined;
  /** Time from now until the key is refused. */
  readonly expiresInMs?: number | null | undefined;
}

/** The prefix of a key that is no UUID. Scanners for leaked secrets find such keys. */
type KeyPrefix = "sk_live_" | "sk_test_";

/** A UUID, or a prefix and the digits of one. */
const KEY =
  /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|sk_(live|test)_[0-9a-f]{32})$/i;
const LABEL = /^[^\p{C}]{1,100}$/u;
/** Allowed networks of one key. */
const NETWORKS_MAX = 50;

/** Sources of a new key. */
export interface KeyDeps {
  readonly db: Db;
  readonly random: Random;
  readonly pepper: Secret;
}

/** A new key. It is returned once; only its keyed hash is stored. */
export interface CreatedKey {
  readonly keyId: string;
  readonly apiKey: string;
}

/**
 * Creates an API key.
 * @throws OperatingError VALIDATION_ERROR naming the field.
 */
export async function createKey(
  deps: KeyDeps,
  args: KeySettings & {
    /** Name or id. */
    readonly integrator: string;
    readonly depositAddresses: boolean;
    /** The form of the key; a UUID without a prefix. */
    readonly prefix?: KeyPrefix | undefined;
  },
): Promise<CreatedKey> {
  const integratorId = await findIntegrator(deps.db, args.integrator);
  const { prefix = null, depositAddresses } = args;
  const { created, keyHmac } = makeKey(deps, prefix);
  await deps.db
    .insertInto("api_keys")
    .values({
      ...toColumns(args),
      id: created.keyId,
      integrator_id: integratorId,
      key_hmac: keyHmac,
      deposit_addresses: depositAddresses,
      prefix,
    })
    .execute();
  return created;
}

/**
 * Creates the successor of a key, with the same rights, and lets the key expire after the overlap. In between both are valid,
 * so that clients change over without a gap.
 * @throws OperatingError VALIDATION_ERROR if the key is not valid, or has a successor already.
 */
export async function rotateKey(
  deps: KeyDeps,
  args: {
    readonly keyId: string;
    /** Time for which both keys are valid. */
    readonly overlapMs: number;
    /** Lifetime of the successor; that of the key by default. */
    readonly expiresInMs?: number | null | undefined;
  },
): Promise<CreatedKey & { readonly replacedExpiresAt: string }> {
  return inTransaction(deps.db, async (tx) => {
    const old = await lockValid(tx, args.keyId);
    const successor = await tx
      .selectFrom("api_keys")
      .select("id")
      .where("replaces", "=", old.id)
      .where("revoked_at", "is", null)
      .executeTakeFirst();
    if (successor) {
      throw invalid("keyId", `a key without a successor; this one has ${successor.id}`);
    }
    const { created, keyHmac } = makeKey(deps, old.prefix);
    const lifetime =
      old.expires_at === null ? null : Date.parse(old.expires_at) - Date.parse(old.created_at);
    const { expiresInMs = lifetime } = args;
    await tx
      .insertInto("api_keys")
      .values({
        ...toColumns({ expiresInMs }),
        id: created.keyId,
        integrator_id: old.integrator_id,
        key_hmac: keyHmac,
        deposit_addresses: old.deposit_addresses,
        label: old.label,
        prefix: old.prefix,
        scopes: old.scopes,
        allowed_networks: old.allowed_networks,
        replaces: old.id,
      })
      .execute();
    const { expires_at: replacedExpiresAt } = await tx
      .updateTable("api_keys")
      .set({
        expires_at: sql<string>`least(coalesce(expires_at, 'infinity'), ${fromNow(args.overlapMs)})`,
      })
      .where("id", "=", old.id)
      .returning("expires_at")
      .executeTakeFirstOrThrow();
    assert(replacedExpiresAt !== null, "a rotated key expires");
    return { ...created, replacedExpiresAt };
  });
}

/**
 * Changes the settings of a valid key. Requests use them at once, and open streams within a second.
 * @throws OperatingError VALIDATION_ERROR naming the field.
 */
export async function setKey(
  db: Db,
  { keyId, ...settings }: KeySettings & { readonly keyId: string },
): Promise<void> {
  const change = toColumns(settings);
  await inTransaction(db, async (tx) => {
    const { id } = await lockValid(tx, keyId);
    if (Object.keys(change).length === 0) return;
    await tx.updateTable("api_keys").set(change).where("id", "=", id).execute();
  });
}

/** An API key as shown to the operator, without the key itself. */
export interface KeyFacts {
  readonly keyId: string;
  readonly integrator: string;
  readonly label: string | null;
  readonly state: "valid" | "expired" | "revoked";
  readonly depositAddresses: boolean;
  readonly prefix: KeyPrefix | null;
  readonly scopes: readonly KeyScope[];
  /** Null: every address. */
  readonly allowedNetworks: readonly string[] | null;
  readonly createdAt: string;
  /** Null: never. */
  readonly expiresAt: string | null;
  /** Null while it is not revoked. */
  readonly revokedAt: string | null;
  /** Null: not used yet. Updated about once a minute. */
  readonly lastUsedAt: string | null;
  /** The key whose successor this is. */
  readonly replaces: string | null;
}

const IS_EXPIRED = sql<boolean>`coalesce(api_keys.expires_at <= now(), false)`;

/**
 * Returns the keys of one integrator, or of all, oldest first.
 * @throws OperatingError VALIDATION_ERROR when the integrator does not exist.
 */
export async function listKeys(
  db: Db,
  { integrator }: { readonly integrator: string | undefined },
): Promise<readonly KeyFacts[]> {
  let query = db
    .selectFrom("api_keys")
    .innerJoin("integrators", "integrators.id", "api_keys.integrator_id")
    .selectAll("api_keys")
    .select(["integrators.name as integrator", IS_EXPIRED.as("isExpired")])
    .orderBy("api_keys.created_at")
    .orderBy("api_keys.id");
  if (integrator !== undefined) {
    query = query.where("integrators.id", "=", await findIntegrator(db, integrator));
  }
  const rows = await query.execute();
  return rows.map((row) => ({
    keyId: row.id,
    integrator: row.integrator,
    label: row.label,
    state: row.revoked_at !== null ? "revoked" : row.isExpired ? "expired" : "valid",
    depositAddresses: row.deposit_addresses,
    prefix: row.prefix,
    scopes: [...scopesOf(row.scopes)],
    allowedNetworks: row.allowed_networks,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    replaces: row.replaces,
  }));
}

/** What a key may know about itself beyond its rights. */
export interface KeyRecord {
  readonly label: string | null;
  readonly createdAt: string;
  /** Null: never. */
  readonly expiresAt: string | null;
  /** Null: not used yet. */
  readonly lastUsedAt: string | null;
}

/** Returns the id of the integrator of a key that exists. */
export async function readOwner(db: Db | Tx, keyId: string): Promise<string> {
  const { integrator_id: integratorId } = await db
    .selectFrom("api_keys")
    .select("integrator_id")
    .where("id", "=", keyId)
    .executeTakeFirstOrThrow();
  return integratorId;
}

/** Returns the record of a key that exists. */
export async function readKeyRecord(db: Db, keyId: string): Promise<KeyRecord> {
  return db
    .selectFrom("api_keys")
    .select(["label", "created_at as createdAt", "expires_at as expiresAt"])
    .select("last_used_at as lastUsedAt")
    .where("id", "=", keyId)
    .executeTakeFirstOrThrow();
}

/**
 * Revokes a key: the next request with it is refused, and its open streams are closed within a second.
 * @throws OperatingError VALIDATION_ERROR when the key does not exist or is already revoked.
 */
export async function revokeKey(db: Db, { keyId }: { readonly keyId: string }): Promise<void> {
  const result = UUID.test(keyId)
    ? await db
        .updateTable("api_keys")
        .set({ revoked_at: sql<string>`now()` })
        .where("id", "=", keyId)
        .where("revoked_at", "is", null)
        .executeTakeFirst()
    : undefined;
  if (result?.numUpdatedRows !== 1n) throw invalid("keyId", EXPECTED_KEY);
}

/** Returns the rights of those of the keys that are valid now. */
export async function readRights(
  db: Db,
  keyIds: readonly string[],
): Promise<ReadonlyMap<string, KeyRights>> {
  if (keyIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("api_keys")
    .select(["id", "scopes", "allowed_networks"])
    .where("id", "in", keyIds)
    .where("revoked_at", "is", null)
    .where(IS_EXPIRED, "=", false)
    .execute();
  return new Map(rows.map((row) => [row.id, rightsOf(row)]));
}

/** Returns whether a request carries no API key. */
export function isMissing(apiKey: unknown): boolean {
  return apiKey === undefined || apiKey === null || apiKey === "";
}

const readHashes = compileOnce((db, { hashes }: Places<{ readonly hashes: readonly Buffer[] }>) =>
  db
    .selectFrom("api_keys")
    .innerJoin("integrators", "integrators.id", "api_keys.integrator_id")
    .select(["api_keys.id as keyId", "integrators.id as integratorId", "name", "key_hmac"])
    .select(["deposit_addresses", "scopes", "allowed_networks", IS_EXPIRED.as("isExpired")])
    .where("key_hmac", "=", sql<Buffer>`any(${hashes}::bytea[])`)
    .where("revoked_at", "is", null),
);

/** Reads a key that is not revoked, and its integrator, by its keyed hash in base64. Requests of one turn share the statement. */
const readValid = gather(
  async (db, hashes: readonly string[]) => {
    const rows = await readHashes(db, {
      hashes: hashes.map((hash) => Buffer.from(hash, "base64")),
    });
    return rows.map((row) => [row.key_hmac.toString("base64"), row] as const);
  },
  (row) => row,
);

/**
 * Returns the principal of a key as received on the wire. The lookup is by keyed hash, so its timing reveals nothing
 * about the key.
 * @throws OperatingError UNAUTHORIZED without a key, FORBIDDEN with an invalid or expired one.
 */
export async function authenticate(
  deps: { readonly db: Db; readonly pepper: Secret },
  apiKey: unknown,
): Promise<Principal> {
  if (isMissing(apiKey)) {
    throw new OperatingError("UNAUTHORIZED", "An API key is required.");
  }
  const isKey = typeof apiKey === "string" && KEY.test(apiKey);
  const row = isKey
    ? await readValid(deps.db, hashKey(deps.pepper, apiKey).toString("base64"))
    : null;
  if (!row) throw new OperatingError("FORBIDDEN", "The API key is not valid.");
  if (row.isExpired) {
    throw new OperatingError("FORBIDDEN", "The API key has expired.", {
      details: { reason: "expired" },
    });
  }
  return {
    integratorId: row.integratorId,
    integratorName: row.name,
    keyId: row.keyId,
    depositAddresses: row.deposit_addresses,
    ...rightsOf(row),
  };
}

/** Returns whether a key may be used from an address. Text that is no address is in no network. */
export function isAllowedFrom({ allowedNetworks }: KeyRights, address: string): boolean {
  if (allowedNetworks === null) return true;
  const caller = parseAddress(address);
  return (
    caller !== undefined &&
    allowedNetworks.some((text) => {
      const network = parseNetwork(text);
      assert(network, "stored networks are canonical");
      return isInNetwork(caller, network);
    })
  );
}

function makeKey({ random, pepper }: KeyDeps, prefix: KeyPrefix | null) {
  const uuid = random.uuid();
  const apiKey = prefix === null ? uuid : `${prefix}${uuid.replaceAll("-", "")}`;
  return { created: { keyId: random.uuid(), apiKey }, keyHmac: hashKey(pepper, apiKey) };
}

function hashKey(pepper: Secret, apiKey: string): Buffer {
  return createHmac("sha256", pepper.reveal()).update(apiKey.toLowerCase()).digest();
}

const EXPECTED_KEY = "the id of a valid key. `sluice key list` shows them";

/** Locks a key that is neither revoked nor expired. @throws OperatingError VALIDATION_ERROR if there is none. */
async function lockValid(tx: Tx, keyId: string) {
  const row = UUID.test(keyId)
    ? await tx
        .selectFrom("api_keys")
        .selectAll()
        .where("id", "=", keyId)
        .where("revoked_at", "is", null)
        .where(IS_EXPIRED, "=", false)
        .forUpdate()
        .executeTakeFirst()
    : undefined;
  if (!row) throw invalid("keyId", EXPECTED_KEY);
  return row;
}

/** Validates settings and returns their columns. */
function toColumns({ label, scopes, allowedNetworks, expiresInMs }: KeySettings) {
  if (label !== undefined && label !== null && !LABEL.test(label)) {
    throw invalid("label", "1 to 100 printable characters");
  }
  if (scopes?.length === 0) throw invalid("scopes", `some of ${KEY_SCOPES.join(", ")}`);
  return {
    ...(label === undefined ? {} : { label }),
    ...(scopes === undefined ? {} : { scopes: scopes && [...new Set(scopes)] }),
    ...(allowedNetworks === undefined
      ? {}
      : { allowed_networks: allowedNetworks && parseNetworks(allowedNetworks) }),
    ...(expiresInMs === undefined
      ? {}
      : { expires_at: expiresInMs === null ? null : fromNow(expiresInMs) }),
  };
}

function parseNetworks(texts: readonly string[]): string[] {
  if (texts.length === 0 || texts.length > NETWORKS_MAX) {
    throw invalid("allow", `1 to ${NETWORKS_MAX} addresses and networks`);
  }
  return texts.map((text) => {
    const network = parseNetwork(text);
    if (network) return formatNetwork(network);
    throw invalid(
      "allow",
      `addresses, and networks that begin at their first address, such as 203.0.113.7 and 10.0.0.0/8; found ${JSON.stringify(text)}`,
    );
  });
}

const fromNow = (ms: number) => sql<string>`now() + ${ms} * interval '1 millisecond'`;

function rightsOf(row: {
  readonly scopes: readonly KeyScope[] | null;
  readonly allowed_networks: readonly string[] | null;
}): KeyRights {
  return { scopes: scopesOf(row.scopes), allowedNetworks: row.allowed_networks };
}

const EVERY_SCOPE: ReadonlySet<KeyScope> = new Set(KEY_SCOPES);

function scopesOf(scopes: readonly KeyScope[] | null): ReadonlySet<KeyScope> {
  return scopes === null ? EVERY_SCOPE : new Set(scopes);
}
