/** Selects and reschedules the settlements that workers poll. Nothing here changes a status. */
import { expressionBuilder, type RawBuilder, sql, type SqlBool } from "kysely";
import { followDelay } from "../../jobs/delays.ts";
import { createDueRows, dueFrom } from "../../jobs/due.ts";
import { advanceRounds, type Rounds, takePage, takeTurns, type Turn } from "../../jobs/turns.ts";
import type { Clock } from "../../core/ports.ts";
import { formatStamp } from "../../core/stamp.ts";
import { literals } from "../../db/literals.ts";
import type { Database, Db, Tx } from "../../db/schema.ts";
import { TOO_SMALL_FOR_FEES } from "../../fees/index.ts";
import type { Reservation } from "../../routes/index.ts";
import type { Settlement } from "../types.ts";
import { parseSettlement } from "./row.ts";

const OF_SETTLEMENT = expressionBuilder<Database, "settlements">();

/** Name of the queue of settlements. */
export const SETTLEMENTS = "settlements";

/** Due work of the settlements that are not terminal, by chain. A terminal row is never changed. */
export const dueSettlements = createDueRows({
  table: "settlements",
  chain: "chain_id",
  queue: sql`${SETTLEMENTS}`,
  isOpen: OF_SETTLEMENT("status", "not in", literals(["completed", "dead"])),
  keepsEnded: true,
});

/**
 * Polls a settlement again soon, because the answer of a node is to come, which nothing announces; after a twentieth of the
 * time that it has waited, where that is longer.
 */
export async function lookAgain(
  { db, clock, pollMs }: { readonly db: Db; readonly clock: Clock; readonly pollMs: number },
  { id, updatedAtMs, nextCheckAt: seen }: Settlement,
): Promise<"wait"> {
  const nowMs = clock.now();
  const atMs = nowMs + Math.max(pollMs, followDelay(nowMs - updatedAtMs));
  await dueSettlements.rescheduleUnlessChanged(db, id, { atMs, seen });
  return "wait";
}

/** Which settlements of a source chain a list is about; integrators take turns in it. */
interface ListArgs {
  readonly chainId: number;
  readonly nowMs: number;
  readonly limit: number;
}

/** Returns due completed settlements whose sweep is not recorded as final, the longest due first. */
export function listToFollow(db: Db, { chainId, nowMs, limit }: ListArgs): Promise<Settlement[]> {
  return listInTurns(db, {
    open: sql`chain_id = ${chainId} and status = 'completed' and not sweep_final`,
    // Null in rows that completed since their last poll.
    due: sql`(next_check_at is null or next_check_at <= ${formatStamp(nowMs)})`,
    since: "next_check_at",
    nulls: "first",
    limit,
  });
}

/** Sets when a completed settlement is followed next. */
export async function followAgain(db: Db, id: string, atMs: number): Promise<void> {
  await db
    .updateTable("settlements")
    .set({ next_check_at: formatStamp(atMs) })
    .where("id", "=", id)
    .where("status", "=", "completed")
    .execute();
}

/** Which waiting settlements a poll asks for: the next page of its rounds. */
interface WaitingArgs extends ListArgs {
  readonly rounds: Rounds;
}

/** Returns settlements that wait for inventory and are not due yet, the next in the rounds of each integrator. */
export function listWaitingForInventory(db: Db, args: WaitingArgs): Promise<Settlement[]> {
  return listFailing(db, args, {
    cause: sql`step = 'sweep' and error_code = 'INSUFFICIENT_BALANCE'`,
    due: sql`error_details ->> 'reason' in (${sql.join(WAITS_FOR_INVENTORY)})`,
  });
}

const WAITS_FOR_INVENTORY = [
  "inventory_too_low",
  "daily_cap_reached",
  "address_share_reached",
  "integrator_share_reached",
  "cap_share_reached",
] satisfies Reservation[];

/** Returns settlements that wait for lower gas costs and are not due yet, the next in the rounds of each integrator. */
export function listWaitingForGas(db: Db, args: WaitingArgs): Promise<Settlement[]> {
  return listFailing(db, args, {
    cause: sql`error_code in ('FEE_NOT_COVERED', 'AMOUNT_TOO_SMALL')`,
    due: sql`step in ('deploy', 'sweep') and (error_code = 'FEE_NOT_COVERED'
      or error_details ->> 'reason' = ${TOO_SMALL_FOR_FEES})`,
  });
}

/** Settlements that the contracts, a lane without gas or an operator holds; the condition of their index. */
const HELD = sql<SqlBool>`step in ('deploy', 'sweep')
  and error_code in ('NO_ROUTE', 'CONFIG_MISSING', 'INSUFFICIENT_BALANCE')`;

/** Returns those of the reasons that hold a settlement of a chain which is not due yet. */
export async function listHoldingReasons(
  db: Db,
  { chainId, nowMs, reasons }: Omit<ListArgs, "limit"> & { readonly reasons: readonly string[] },
): Promise<readonly string[]> {
  const { rows } = await sql<{ reason: string }>`
    select reason from unnest(${reasons}::text[]) as asked (reason) where exists (
      select from settlements where chain_id = ${chainId} and ${FAILING} and ${HELD}
        and error_details ->> 'reason' = asked.reason and retry_at > ${formatStamp(nowMs)})`.execute(
    db,
  );
  return rows.map(({ reason }) => reason);
}

/** Returns settlements that a reason holds and that are not due yet, the next in the rounds of each integrator. */
export function listHeld(
  db: Db,
  args: WaitingArgs & {
    readonly reason: string;
    /** Only settlements that were deferred at this time or earlier. */
    readonly deferredByMs: number;
  },
): Promise<Settlement[]> {
  return listFailing(db, args, {
    cause: sql`${HELD} and error_details ->> 'reason' = ${args.reason}`,
    due: sql`updated_at <= ${formatStamp(args.deferredByMs)}`,
  });
}

const FAILING = sql<SqlBool>`status in ('failed_deploy', 'failed_swap', 'failed_settle', 'deferred')`;

async function listFailing(
  db: Db,
  { chainId, nowMs, limit, rounds }: WaitingArgs,
  waits: {
    /** The condition of an index: those that fail for this cause. */
    readonly cause: RawBuilder<SqlBool>;
    readonly due: RawBuilder<SqlBool>;
  },
): Promise<Settlement[]> {
  const page = takePage({
    table: "settlements",
    open: sql`chain_id = ${chainId} and ${FAILING} and ${waits.cause}`,
    due: sql`retry_at > ${formatStamp(nowMs)} and ${waits.due}`,
    since: "created_at",
    limit,
    rounds,
  });
  const rows = await selectChosen(db, page);
  advanceRounds(
    rounds,
    rows.map((row) => ({ integratorId: row.integrator_id, since: row.created_at, id: row.id })),
  );
  return rows.map(parseSettlement);
}

async function listInTurns(
  db: Db,
  choice: Omit<Parameters<typeof takeTurns>[0], "table">,
): Promise<Settlement[]> {
  const rows = await selectChosen(db, takeTurns({ table: "settlements", ...choice }));
  return rows.map(parseSettlement);
}

function selectChosen(db: Db, chosen: RawBuilder<Turn>) {
  return db
    .selectFrom("settlements")
    .innerJoin(chosen.as("turns"), (join) => join.onRef("turns.id", "=", "settlements.id"))
    .selectAll("settlements")
    .orderBy("turns.place")
    .execute();
}

/** Makes a settlement due at once, without its scheduled retry. A terminal settlement is not changed. */
export async function retryNow(tx: Tx, id: string, nowMs: number): Promise<void> {
  await tx
    .updateTable("settlements")
    .set({ next_check_at: dueFrom(nowMs), retry_at: null })
    .where("id", "=", id)
    .where("status", "not in", literals(["completed", "dead"]))
    .execute();
}
