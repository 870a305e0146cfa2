/**
 * Pauses of an integrator, a chain, a token or a kind of route, set by an operator and kept on record. Nothing new is
 * deployed or swept meanwhile: deposits are still detected and queued, and their settlements are deferred. Value in flight
 * goes on: deliveries, claims, returns and refunds never ask for pauses.
 */
import { sql } from "kysely";
import type { RouteKind } from "../../config/index.ts";
import { OperatingError } from "../../core/errors.ts";
import type { Address } from "../../core/hex.ts";
import type { Random } from "../../core/ports.ts";
import { formatStamp } from "../../core/stamp.ts";
import { gatherCalls } from "../../db/gather.ts";
import type { Db, Tx } from "../../db/schema.ts";
import type { Settlement } from "../types.ts";

/** The settlements that a pause defers: of an integrator, or of a source chain, one of its tokens or routes. */
export type PauseTarget =
  | { readonly scope: "integrator"; readonly integratorId: string }
  | { readonly scope: "chain"; readonly chainId: number }
  | { readonly scope: "token"; readonly chainId: number; readonly token: Address }
  | { readonly scope: "route"; readonly chainId: number; readonly route: RouteKind };

/** A pause as shown to the operator. */
export interface PauseFacts {
  readonly scope: string;
  /** Bridge id of the source chain; null for an integrator. */
  readonly chainId: number | null;
  /** The integrator's id, the token or the kind of route; empty for a chain. */
  readonly subject: string;
  readonly reason: string;
  readonly operator: string;
  readonly pausedAt: string;
  readonly resumedAt: string | null;
  readonly resumedBy: string | null;
  /** Null while it is paused, and of pauses that an earlier version ended. */
  readonly resumeReason: string | null;
}

/** Starts a pause. Returns false if the target is paused already. */
export async function startPause(
  deps: { readonly db: Db; readonly random: Random },
  target: PauseTarget,
  { operator, reason }: { readonly operator: string; readonly reason: string },
): Promise<boolean> {
  const result = await deps.db
    .insertInto("pauses")
    .values({ id: deps.random.uuid(), ...columnsOf(target), operator, reason })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/**
 * Ends a pause. The poll of held settlements (`waiting/held.ts`) retries those that no other pause defers. Returns false if
 * the target is not paused.
 */
export async function endPause(
  db: Db,
  target: PauseTarget,
  {
    operator,
    reason,
    nowMs,
  }: { readonly operator: string; readonly reason: string; readonly nowMs: number },
): Promise<boolean> {
  const { scope, chain_id: chainId, subject } = columnsOf(target);
  const result = await db
    .updateTable("pauses")
    .set({ resumed_at: formatStamp(nowMs), resumed_by: operator, resume_reason: reason })
    .where("scope", "=", scope)
    .where(sql<boolean>`chain_id is not distinct from ${chainId}::integer`)
    .where("subject", "=", subject)
    .where("resumed_at", "is", null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Returns the open pauses, or all on record, oldest first. */
export async function listPauses(
  db: Db,
  { all }: { readonly all: boolean },
): Promise<readonly PauseFacts[]> {
  const rows = await db
    .selectFrom("pauses")
    .selectAll()
    .$if(!all, (query) => query.where("resumed_at", "is", null))
    .orderBy("paused_at")
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    scope: row.scope,
    chainId: row.chain_id,
    subject: row.subject,
    reason: row.reason,
    operator: row.operator,
    pausedAt: row.paused_at,
    resumedAt: row.resumed_at,
    resumedBy: row.resumed_by,
    resumeReason: row.resume_reason,
  }));
}

/**
 * Returns the kinds of routes that are paused on a settlement's chain.
 * @throws OperatingError CONFIG_MISSING, a deferral, when its integrator, chain or token is paused.
 */
export async function readPausedRoutes(
  db: Db | Tx,
  { integratorId, chainId, token }: Pick<Settlement, "integratorId" | "chainId" | "token">,
): Promise<ReadonlySet<string>> {
  const rows = await listPausesOf(db, { integratorId, chainId, token });
  const whole = rows.find(({ scope }) => scope !== "route");
  if (whole) throw paused(whole.scope);
  return new Set(rows.map(({ subject }) => subject));
}

/** Lists the open pauses that hold a settlement. */
const listPausesOf = gatherCalls(
  async (db, of: readonly Pick<Settlement, "integratorId" | "chainId" | "token">[]) => {
    const { rows } = await sql<{ place: number; scope: string; subject: string }>`
      select held.place::integer, pauses.scope, pauses.subject
        from unnest(
          ${of.map(({ integratorId }) => integratorId)}::text[], ${of.map(({ chainId }) => chainId)}::integer[],
          ${of.map(({ token }) => token)}::text[]
        ) with ordinality as held (integrator, chain_id, token, place)
        join pauses on pauses.resumed_at is null and (
          pauses.scope = 'integrator' and pauses.subject = held.integrator
          or pauses.chain_id = held.chain_id and (pauses.scope in ('chain', 'route')
            or pauses.scope = 'token' and pauses.subject = held.token))`.execute(db);
    const byPlace = Map.groupBy(rows, ({ place }) => place);
    return of.map((_, index) => byPlace.get(index + 1) ?? []);
  },
);

/** Returns the deferral of a paused settlement. The operator's reason stays with the pause: integrators see this error. */
export function paused(scope: string): OperatingError {
  return new OperatingError("CONFIG_MISSING", `Paused by the operator (${scope}).`, {
    details: { reason: PAUSED, scope },
  });
}

/** The reason of the deferral of a paused settlement. */
export const PAUSED = "paused";

function columnsOf(target: PauseTarget): {
  readonly scope: PauseTarget["scope"];
  readonly chain_id: number | null;
  readonly subject: string;
} {
  const { scope } = target;
  switch (scope) {
    case "integrator":
      return { scope, chain_id: null, subject: target.integratorId };
    case "chain":
      return { scope, chain_id: target.chainId, subject: "" };
    case "token":
      return { scope, chain_id: target.chainId, subject: target.token };
    case "route":
      return { scope, chain_id: target.chainId, subject: target.route };
  }
}
