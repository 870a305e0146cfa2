import { sql } from "kysely";
import { isAddress } from "@sluice/sdk/address";
import type { GasPolicy } from "../config/index.ts";
import type { AddressTerms, RouteTerms } from "../core/commitment.ts";
import { OperatingError } from "../core/errors.ts";
import { parseSolanaAddress, toBase58 } from "../core/base58.ts";
import { type Address, NATIVE_TOKEN, toAddress } from "../core/hex.ts";
import type { Random } from "../core/ports.ts";
import { findWalletFault } from "../core/solana-wallet.ts";
import { gather } from "../db/gather.ts";
import type { Db } from "../db/schema.ts";

/** Names of integrators that the service creates begin so. */
export const OWN_PREFIX = "inventory-";
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Creates an integrator. Its refund authority and caps are part of the commitment of every address issued for it.
 * @throws OperatingError VALIDATION_ERROR naming the field.
 */
export async function createIntegrator(
  deps: { readonly db: Db; readonly random: Random },
  args: {
    readonly name: string;
    readonly refundEvm: string;
    /** Base58; required before Solana addresses can be issued. */
    readonly refundSolana?: string | undefined;
    readonly maxFeeBps: number;
    readonly maxSlippageBps: number;
    /** Who pays for the gas of its settlements; defaults to the configuration. */
    readonly gas?: GasPolicy | undefined;
    /** Terms of its addresses whose requests make no choice; governed and attended by default. */
    readonly terms?: AddressTerms | undefined;
  },
): Promise<{ readonly integratorId: string; readonly name: string }> {
  const { name, refundEvm, refundSolana, maxFeeBps, maxSlippageBps, gas = null, terms = {} } = args;
  // An integrator is named by name or id, so a name must not look like an id.
  if (!NAME.test(name) || UUID.test(name)) {
    throw invalid("name", "1 to 63 lower-case letters, digits and hyphens");
  }
  if (name.startsWith(OWN_PREFIX)) {
    throw invalid("name", `another beginning than ${OWN_PREFIX}, which moves of treasuries have`);
  }
  if (!isAddress(refundEvm) || toAddress(refundEvm) === NATIVE_TOKEN) {
    throw invalid("refundEvm", "an address (0x and 40 hex digits, valid checksum), not zero");
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
      routes: terms.routes ?? "governed",
      unattended: terms.unattended ?? false,
    })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows !== 1n) throw invalid("name", "a name that is not taken");
  return { integratorId, name };
}

/** Creates the integrator of the operator's own moves, with the id that the service gives it, unless it exists. */
export async function ensureOwnIntegrator(
  db: Db,
  {
    id,
    name,
    refundEvm,
    maxFeeBps,
    maxSlippageBps,
    gas,
  }: {
    readonly id: string;
    readonly name: string;
    readonly refundEvm: Address;
    readonly maxFeeBps: number;
    readonly maxSlippageBps: number;
    readonly gas: GasPolicy;
  },
): Promise<void> {
  await db
    .insertInto("integrators")
    .values({
      id,
      name,
      refund_evm: refundEvm,
      refund_solana: null,
      max_fee_bps: maxFeeBps,
      max_slippage_bps: maxSlippageBps,
      gas,
      routes: "governed",
      unattended: false,
      own: true,
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}

/** An integrator as shown to the operator. */
export interface IntegratorFacts {
  readonly integratorId: string;
  readonly name: string;
  readonly refundEvm: string;
  /** Base58; null while the integrator cannot take deposits on Solana. */
  readonly refundSolana: string | null;
  readonly maxFeeBps: number;
  readonly maxSlippageBps: number;
  /** Null when the configuration decides. */
  readonly gas: GasPolicy | null;
  readonly routes: RouteTerms;
  readonly unattended: boolean;
  readonly addressesIssued: number;
  /** Own quotas; null where the configuration decides. */
  readonly addressesMax: number | null;
  readonly openSettlementsMax: number | null;
  /** Turns per round in every queue. */
  readonly weight: number;
  readonly createdAt: string;
}

/** Returns every integrator, oldest first. */
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
    routes: row.routes === "fixed" ? "fixed" : "governed",
    unattended: row.unattended,
    addressesIssued: Number(row.addresses_issued),
    addressesMax: row.addresses_max === null ? null : Number(row.addresses_max),
    openSettlementsMax: row.open_settlements_max === null ? null : Number(row.open_settlements_max),
    weight: row.queue_weight,
    createdAt: row.created_at,
  }));
}

/**
 * Sets who pays for the gas of an integrator's settlements, for sweeps planned from now on. Null restores the
 * configuration's policy.
 * @throws OperatingError VALIDATION_ERROR when the integrator does not exist.
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
 * Sets the terms of an integrator's addresses from now on. Issued addresses keep theirs; absent terms stay as they are.
 * @throws OperatingError VALIDATION_ERROR when the integrator does not exist.
 */
export async function setAddressTerms(
  db: Db,
  args: { readonly integrator: string; readonly terms: AddressTerms },
): Promise<void> {
  const id = await findIntegrator(db, args.integrator);
  const { routes, unattended } = args.terms;
  const change = {
    ...(routes === undefined ? {} : { routes }),
    ...(unattended === undefined ? {} : { unattended }),
  };
  if (Object.keys(change).length === 0) return;
  await db.updateTable("integrators").set(change).where("id", "=", id).execute();
}

/**
 * Sets the refund authority of an integrator's deposits on Solana. It can be set once and never changed: issued
 * addresses commit to it.
 * @throws OperatingError VALIDATION_ERROR when the integrator does not exist, the address is not a wallet, or another
 * authority is already set.
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
    throw invalid("refundSolana", "the refund authority that is already set; it cannot be changed");
  }
}

/** Returns who pays for the gas of an integrator's settlements; null when the configuration decides. */
export async function readGasPolicy(db: Db, integratorId: string): Promise<GasPolicy | null> {
  return policyOf((await readGas(db, integratorId))?.gas ?? null);
}

const readGas = gather(
  async (db, ids: readonly string[]) => {
    const rows = await db
      .selectFrom("integrators")
      .select(["id", "gas"])
      .where(sql<boolean>`id = any(${ids}::uuid[])`)
      .execute();
    return rows.map((row) => [row.id, row] as const);
  },
  (row) => row,
);

// CAST: the column's check constraint allows only these values.
const policyOf = (gas: string | null) => gas as GasPolicy | null;

/** Reports whether an integrator has this name. */
export async function isNameTaken(db: Db, name: string): Promise<boolean> {
  const integrator = await db
    .selectFrom("integrators")
    .select("id")
    .where("name", "=", name)
    .executeTakeFirst();
  return integrator !== undefined;
}

/** Returns the id of an integrator given by name or id. @throws OperatingError VALIDATION_ERROR when it does not exist. */
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

function parseRefundSolana(text: string): Address {
  const address = parseSolanaAddress(text);
  if (!address) throw invalid("refundSolana", "a Solana address (32 bytes in base58)");
  const fault = findWalletFault(address);
  if (fault !== undefined) throw invalid("refundSolana", fault);
  return address;
}

/** Returns the error of a bad field. */
export function invalid(field: string, expected: string): OperatingError {
  return new OperatingError("VALIDATION_ERROR", `${field}: expected ${expected}.`, {
    details: { field },
  });
}
