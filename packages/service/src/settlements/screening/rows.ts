/**
 * Screening of deposits before their sweep. A sweep takes the whole balance, so it waits until every recorded deposit
 * that it would take is allowed. Rows are written by the settlement that waits and answered by a loop of their own
 * (screen.ts), so that a slow screening service delays no other work.
 *
 * Invariant: only `allow` lets a sweep go; no answer, a failure and a malformed answer are `wait`.
 */
import { sql } from "kysely";
import { OperatingError } from "../../core/errors.ts";
import type { Clock } from "../../core/ports.ts";
import { formatStamp } from "../../core/stamp.ts";
import type { Db, Tx } from "../../db/schema.ts";
import type { Settlement } from "../types.ts";

/** Answers about a deposit. */
export const VERDICTS = ["allow", "wait", "refuse"] as const;
export type Verdict = (typeof VERDICTS)[number];

/** Reasons of the deferral, as integrators see them. */
export const SCREENING_PENDING = "screening_pending";
export const SCREENING_REFUSED = "screening_refused";

interface Holder extends Pick<Settlement, "id" | "integratorId" | "chainId" | "wallet" | "token"> {}

interface Unscreened {
  readonly id: string;
  readonly verdict: string | null;
  readonly tries: number | null;
}

/**
 * Returns whether the settlement may take its deposits; false while an answer is still awaited for the first time.
 * @throws OperatingError CONFIG_MISSING, a deferral, when a deposit is refused, or still waits after a try.
 */
export async function isScreened(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  settlement: Holder,
): Promise<boolean> {
  const open = await listUnscreened(db, settlement);
  if (open.length === 0) return true;
  const unknown = open.filter(({ verdict }) => verdict === null);
  if (unknown.length > 0) await insertScreenings({ db, clock }, settlement, unknown);
  if (open.some(({ verdict }) => verdict === "refuse")) {
    throw deferral("A deposit is held by the operator's screening.", SCREENING_REFUSED);
  }
  if (open.every(({ tries }) => !tries)) return false;
  throw deferral("A deposit waits for the operator's screening.", SCREENING_PENDING);
}

/** Returns whether nothing unscreened arrived meanwhile; called in the transaction that plans the sweep. */
export async function isStillScreened(tx: Tx, settlement: Holder): Promise<boolean> {
  return (await listUnscreened(tx, settlement)).length === 0;
}

/**
 * Returns the deposits without permission that a sweep would take: those of this settlement, of none, and of dead ones
 * whose deposits were not refunded.
 */
async function listUnscreened(
  db: Db | Tx,
  { id, chainId, wallet, token }: Holder,
): Promise<readonly Unscreened[]> {
  return db
    .selectFrom("deposits as d")
    .leftJoin("screenings as c", "c.id", "d.id")
    .leftJoin("settlements as s", "s.id", "d.settlement_id")
    .select(["d.id", "c.verdict", "c.tries"])
    .where("d.chain_id", "=", chainId)
    .where("d.wallet", "=", wallet)
    .where("d.token", "=", token)
    .where("d.orphaned_at", "is", null)
    .where(
      sql<boolean>`(s.id is null or s.id = ${id} or (s.status = 'dead'
        and s.error_details ->> 'reason' is distinct from 'refunded'))`,
    )
    .where(sql<boolean>`c.verdict is distinct from 'allow'`)
    .execute();
}

async function insertScreenings(
  { db, clock }: { readonly db: Db; readonly clock: Clock },
  { chainId, integratorId }: Holder,
  deposits: readonly Unscreened[],
): Promise<void> {
  const shared = {
    chain_id: chainId,
    integrator_id: integratorId,
    next_check_at: formatStamp(clock.now()),
  };
  await db
    .insertInto("screenings")
    .values(deposits.map(({ id }) => ({ id, ...shared })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

function deferral(message: string, reason: string): OperatingError {
  return new OperatingError("CONFIG_MISSING", message, { details: { reason } });
}
