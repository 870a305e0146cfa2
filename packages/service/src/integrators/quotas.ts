/**
 * Quotas of an integrator, so that one cannot fill the service for all. The configuration has the defaults; an operator
 * sets others per integrator (`sluice integrator set`).
 */
import { OperatingError } from "../core/errors.ts";
import type { Db, Tx } from "../db/schema.ts";
import { findIntegrator } from "./integrators.ts";

/** The most that an integrator may have. */
export interface Quotas {
  /** Issued deposit addresses. */
  readonly addresses: number;
  /** Settlements of one source chain that have not ended. */
  readonly openSettlements: number;
}

/** A quota is used up: 429, under the code RPC_UNAVAILABLE of the interface's closed set, as for rate limits. */
export class QuotaExceeded extends OperatingError {
  readonly httpStatus = 429;

  constructor(quota: keyof Quotas, limit: number) {
    super("RPC_UNAVAILABLE", `The quota of ${NAMES[quota]} is used up (${limit}).`, {
      details: { reason: "quota_exceeded", quota, limit },
      // Settlements end; issued addresses stay.
      ...(quota === "addresses" && { retryable: false as const }),
    });
  }
}

const NAMES: Readonly<Record<keyof Quotas, string>> = {
  addresses: "deposit addresses",
  openSettlements: "settlements in progress on this chain",
};

/** Throws QuotaExceeded if an integrator has more addresses than it may; called after one was inserted. */
export async function assertAddressQuota(
  tx: Tx,
  integratorId: string,
  { addresses }: Quotas,
): Promise<void> {
  const { addresses_issued: issued, addresses_max: own } = await tx
    .selectFrom("integrators")
    .select(["addresses_issued", "addresses_max"])
    .where("id", "=", integratorId)
    .executeTakeFirstOrThrow();
  const limit = own ?? BigInt(addresses);
  if (BigInt(issued) > limit) throw new QuotaExceeded("addresses", Number(limit));
}

/** Returns the most settlements that an integrator may have in progress on a chain. */
export async function readSettlementQuota(
  db: Db | Tx,
  integratorId: string,
  { openSettlements }: Quotas,
): Promise<number> {
  const { open_settlements_max: own } = await db
    .selectFrom("integrators")
    .select("open_settlements_max")
    .where("id", "=", integratorId)
    .executeTakeFirstOrThrow();
  return own === null ? openSettlements : Number(own);
}

/** Limits of one integrator; absent ones stay, null restores the configuration's. */
export interface OwnLimits {
  readonly addresses?: number | null | undefined;
  readonly openSettlements?: number | null | undefined;
  /** Turns per round in every queue, 1 to 100. */
  readonly weight?: number | undefined;
}

/**
 * Sets the limits of an integrator. A quota below the present number takes nothing back: it refuses additions.
 * @throws OperatingError VALIDATION_ERROR when the integrator does not exist.
 */
export async function setLimits(
  db: Db,
  { integrator, limits }: { readonly integrator: string; readonly limits: OwnLimits },
): Promise<void> {
  const { addresses, openSettlements, weight } = limits;
  const stored = (limit: number | null) => (limit === null ? null : BigInt(limit));
  const change = {
    ...(addresses === undefined ? {} : { addresses_max: stored(addresses) }),
    ...(openSettlements === undefined ? {} : { open_settlements_max: stored(openSettlements) }),
    ...(weight === undefined ? {} : { queue_weight: weight }),
  };
  const id = await findIntegrator(db, integrator);
  if (Object.keys(change).length === 0) return;
  await db.updateTable("integrators").set(change).where("id", "=", id).execute();
}
