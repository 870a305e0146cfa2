import { createHmac } from "node:crypto";
import { sql } from "kysely";
import { isAddress } from "@sluice/sdk/address";
import type { GasPolicy } from "../config/index.ts";
import { OperatingError } from "../core/errors.ts";
import { parseSolanaAddress, toBase58 } from "../core/base58.ts";
import { type Address, NATIVE_TOKEN, toAddress } from "../core/hex.ts";
import type { Random } from "../core/ports.ts";
import type { Secret } from "../core/secret.ts";
import { findWalletFault } from "../core/solana-wallet.ts";
import type { Db } from "../db/schema.ts";

/** Whoever holds a valid key, and what the key allows. */
export interface Principal {
  readonly integratorId: string;
  readonly integratorName: string;
  readonly keyId: string;
  /** Whether quotes made with this key carry a deposit address. */
  readonly depositAddresses: boolean;
}

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Creates an integrator. Its refund authority and caps are committed in the addresses issued for it from now on.
 * @throws OperatingError VALIDATION_ERROR naming the field.
 */
export async function createIntegrator(
  deps: { readonly db: Db; readonly random: Random },
  args: {
    readonly name: string;
    readonly refundEvm: string;
    /** Base58; needed before addresses on Solana are issued. */
    readonly refundSolana?: string | undefined;
    readonly maxFeeBps: number;
    readonly maxSlippageBps: number;
    /** Who pays for the gas of its settlements; as the configuration says unless given. */
    readonly gas?: GasPolicy | undefined;
  },
): Promise<{ readonly integratorId: string; readonly name: string }> {
  const { name, refundEvm, refundSolana, maxFeeBps, maxSlippageBps, gas = null } = args;
  // An integrator is named by name or id, so a name must not look like an id.
  if (!NAME.test(name) || UUID.test(name)) {
    throw invalid("name", "1 to 63 lower-case letters, digits and hyphens");
  }
  if (!isAddress(refundEvm) || toAddress(refundEvm) === NATIVE_TOKEN) {
    throw invalid("refundEvm", "an address, 0x and 40 hex digits with a right checksum, not zero");
  }
  const authority = refundSolana === undefined ? null : parseRefundSolana(refundSolana);
  for (const [field, bps] of Object.entries({ maxFeeBps, maxSlippageBps })) {
    if (!Number.isInteger(bps) || bps < 0 || bps > 10_000) {
      throw invalid(field, "a whole number of basis points from 0 to 10000");
    }
  }
  const integratorId = deps.random.uuid();
  const { numInsertedOrUpdatedRows } = await deps.db
    .insertInto("integrators")
    .values({
      id: integratorId,
      name,
      refund_evm: toAddress(refundEvm),
      refund_solana: authority,
      max_fee_bps: maxFeeBps,
      max_slippage_bps: maxSlippageBps,
      gas,
    })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows !== 1n) throw invalid("name", "one that is not taken yet");
  return { integratorId, name };
}

/** An integrator as its operator sees it. */
export interface IntegratorFacts {
  readonly integratorId: string;
  readonly name: string;
  readonly refundEvm: string;
  /** Base58; null where deposits on Solana cannot be taken yet. */
  readonly refundSolana: string | null;
  readonly maxFeeBps: number;
  readonly maxSlippageBps: number;
  /** Null where the configuration decides. */
  readonly gas: GasPolicy | null;
  readonly createdAt: string;
}

/** Every integrator, oldest first. */
export async function listIntegrators(db: Db): Promise<readonly IntegratorFacts[]> {
  const rows = await db
    .selectFrom("integrators")
    .selectAll()
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    integratorId: row.id,
    name: row.name,
    refundEvm: row.refund_evm,
    refundSolana: row.refund_solana === null ? null : toBase58(toAddress(row.refund_solana)),
    maxFeeBps: row.max_fee_bps,
    maxSlippageBps: row.max_slippage_bps,
    gas: policyOf(row.gas),
    createdAt: row.created_at,
  }));
}

/**
 * Sets who pays for the gas of an integrator's settlements, of sweeps that are planned from now on; null for as the
 * configuration says.
 * @throws OperatingError VALIDATION_ERROR when there is no such integrator.
 */
export async function setGasPolicy(
  db: Db,
  args: { readonly integrator: string; readonly gas: GasPolicy | null },
): Promise<void> {
  await db
    .updateTable("integrators")
    .set({ gas: args.gas })
    .where("id", "=", await findIntegrator(db, args.integrator))
    .execute();
}

/**
 * Names who gets an integrator's deposits on Solana back. Once for ever: addresses keep what was committed in them, and two
 * answers to whom a refund goes would be one too many.
 * @throws OperatingError VALIDATION_ERROR when there is no such integrator, no such wallet, or another one was named.
 */
export async function setRefundSolana(
  db: Db,
  args: { readonly integrator: string; readonly refundSolana: string },
): Promise<void> {
  const authority = parseRefundSolana(args.refundSolana);
  const { numUpdatedRows } = await db
    .updateTable("integrators")
    .set({ refund_solana: authority })
    .where("id", "=", await findIntegrator(db, args.integrator))
    .where((either) =>
      either.or([either("refund_solana", "is", null), either("refund_solana", "=", authority)]),
    )
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) {
    throw invalid("refundSolana", "the refund authority that was named before: it stays");
  }
}

/** Who pays for the gas of an integrator's settlements; null where the configuration decides. */
export async function readGasPolicy(db: Db, integratorId: string): Promise<GasPolicy | null> {
  const row = await db
    .selectFrom("integrators")
    .select("gas")
    .where("id", "=", integratorId)
    .executeTakeFirst();
  return policyOf(row?.gas ?? null);
}

// CAST: held by the column's check constraint.
const policyOf = (gas: string | null) => gas as GasPolicy | null;

/** Creates a key. It is returned once; what is stored is its keyed hash. */
export async function createKey(
  deps: { readonly db: Db; readonly random: Random; readonly pepper: Secret },
  args: {
    /** Name or id. */
    readonly integrator: string;
    readonly depositAddresses: boolean;
  },
): Promise<{ readonly keyId: string; readonly apiKey: string }> {
  const { db, random, pepper } = deps;
  const integratorId = await findIntegrator(db, args.integrator);
  const apiKey = random.uuid();
  const keyId = random.uuid();
  await db
    .insertInto("api_keys")
    .values({
      id: keyId,
      integrator_id: integratorId,
      key_hmac: hashKey(pepper, apiKey),
      deposit_addresses: args.depositAddresses,
    })
    .execute();
  return { keyId, apiKey };
}

/** A key as its operator sees it: never the key itself. */
export interface KeyFacts {
  readonly keyId: string;
  readonly integrator: string;
  readonly depositAddresses: boolean;
  readonly createdAt: string;
  /** Null while it is valid. */
  readonly revokedAt: string | null;
}

/** The keys of an integrator, or of all, oldest first. @throws OperatingError VALIDATION_ERROR when there is no such one. */
export async function listKeys(
  db: Db,
  { integrator }: { readonly integrator: string | undefined },
): Promise<readonly KeyFacts[]> {
  let query = db
    .selectFrom("api_keys")
    .innerJoin("integrators", "integrators.id", "api_keys.integrator_id")
    .select(["api_keys.id as keyId", "integrators.name as integrator"])
    .select(["deposit_addresses as depositAddresses", "api_keys.created_at as createdAt"])
    .select("revoked_at as revokedAt")
    .orderBy("api_keys.created_at")
    .orderBy("api_keys.id");
  if (integrator !== undefined) {
    query = query.where("integrators.id", "=", await findIntegrator(db, integrator));
  }
  return query.execute();
}

/**
 * Ends a key for good: the next request with it is refused, and open streams are cut within a second.
 * @throws OperatingError VALIDATION_ERROR when there is no such key, or it was revoked before.
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
  if (result?.numUpdatedRows !== 1n) {
    throw invalid("keyId", "the id of a key that is valid, as `sluice key list` shows it");
  }
}

/** Which of the keys were revoked. */
export async function listRevoked(db: Db, keyIds: readonly string[]): Promise<ReadonlySet<string>> {
  if (keyIds.length === 0) return new Set();
  const rows = await db
    .selectFrom("api_keys")
    .select("id")
    .where("id", "in", keyIds)
    .where("revoked_at", "is not", null)
    .execute();
  return new Set(rows.map(({ id }) => id));
}

/** The id of an integrator that is named by name or id. @throws OperatingError VALIDATION_ERROR when there is none. */
export async function findIntegrator(db: Db, nameOrId: string): Promise<string> {
  const column = UUID.test(nameOrId) ? "id" : "name";
  const integrator = await db
    .selectFrom("integrators")
    .select("id")
    .where(column, "=", nameOrId)
    .executeTakeFirst();
  if (!integrator) throw invalid("integrator", "the name or id of an integrator");
  return integrator.id;
}

/** Whether nothing came where a key belongs. */
export function isMissing(apiKey: unknown): boolean {
  return apiKey === undefined || apiKey === null || apiKey === "";
}

/**
 * Who a key, as it came over the wire, belongs to. The look-up is by keyed hash, so its time says nothing about the key.
 * @throws OperatingError UNAUTHORIZED without a key, FORBIDDEN with one that is not valid.
 */
export async function authenticate(
  deps: { readonly db: Db; readonly pepper: Secret },
  apiKey: unknown,
): Promise<Principal> {
  if (isMissing(apiKey)) {
    throw new OperatingError("UNAUTHORIZED", "An API key is required.");
  }
  const isKey = typeof apiKey === "string" && UUID.test(apiKey);
  const row = isKey
    ? await deps.db
        .selectFrom("api_keys")
        .innerJoin("integrators", "integrators.id", "api_keys.integrator_id")
        .select(["api_keys.id as keyId", "integrators.id as integratorId", "name"])
        .select("deposit_addresses")
        .where("key_hmac", "=", hashKey(deps.pepper, apiKey))
        .where("revoked_at", "is", null)
        .executeTakeFirst()
    : undefined;
  if (!row) throw new OperatingError("FORBIDDEN", "The API key is not valid.");
  return {
    integratorId: row.integratorId,
    integratorName: row.name,
    keyId: row.keyId,
    depositAddresses: row.deposit_addresses,
  };
}

function hashKey(pepper: Secret, apiKey: string): Buffer {
  return createHmac("sha256", pepper.reveal()).update(apiKey.toLowerCase()).digest();
}

function parseRefundSolana(text: string): Address {
  const address = parseSolanaAddress(text);
  if (!address) throw invalid("refundSolana", "an address of Solana, 32 bytes in base58");
  const fault = findWalletFault(address);
  if (fault !== undefined) throw invalid("refundSolana", fault);
  return address;
}

function invalid(field: string, expected: string): OperatingError {
  return new OperatingError("VALIDATION_ERROR", `${field}: expected ${expected}.`, {
    details: { field },
  });
}
