/** Reads settlements, and locks them or their holding. */
import { sql } from "kysely";
import { type DepositAddress, getAddressById } from "../../addresses/index.ts";
import { assert } from "../../core/assert.ts";
import { gather } from "../../db/gather.ts";
import { literals } from "../../db/literals.ts";
import type { Db, Tx } from "../../db/schema.ts";
import type { Holding } from "../../deposits/index.ts";
import { type Settlement, type SettlementError, TOO_LITTLE } from "../types.ts";
import { errorOf, parseSettlement } from "./row.ts";

/** Locks a holding until the end of the transaction, so that decisions about it are serialized. */
export async function lockHolding(tx: Tx, holding: Holding): Promise<void> {
  const key = `${holding.chainId}:${holding.wallet}:${holding.token}`;
  await sql`select pg_advisory_xact_lock(8, hashtext(${key}))`.execute(tx);
}

/** Locks holdings like `lockHolding`, in one order, so that two transactions never wait for each other. */
export async function lockHoldings(tx: Tx, holdings: readonly Holding[]): Promise<void> {
  const keys = holdings.map(({ chainId, wallet, token }) => `${chainId}:${wallet}:${token}`);
  await sql`select pg_advisory_xact_lock(8, hashtext(key))
    from unnest(${keys.toSorted()}::text[]) as held (key)`.execute(tx);
}

/**
 * Returns the positions of the holdings whose deposits in a block can concern a settlement: an active one, or one whose mined
 * sweep is in that block or later, or may still move there.
 */
export async function listConcerned(
  db: Db | Tx,
  holdings: readonly Holding[],
  block: bigint,
): Promise<ReadonlySet<number>> {
  const [first] = holdings;
  if (!first) return new Set();
  const { rows } = await sql<{ place: number }>`
    select place::int from unnest(
      ${holdings.map(({ wallet }) => wallet)}::text[],
      ${holdings.map(({ token }) => token)}::text[]
    ) with ordinality as held (wallet, token, place)
    where exists (
      select from settlements s where s.chain_id = ${first.chainId} and s.wallet = held.wallet
        and s.token = held.token
        and (s.status not in ('completed', 'dead') or s.taken_block >= ${block}
          or (s.status = 'completed' and not s.sweep_final))
    )`.execute(db);
  return new Set(rows.map(({ place }) => place - 1));
}

/** Returns the active settlement of a holding, at most one; null when all are terminal. */
export async function getActive(db: Db | Tx, holding: Holding): Promise<Settlement | null> {
  const row = await selectHolding(db, holding)
    .where("status", "not in", literals(["completed", "dead"]))
    .executeTakeFirst();
  return row ? parseSettlement(row) : null;
}

/** Returns the first settlement whose mined sweep is after a chain position: it took the deposit at that position. */
export async function getSweptAfter(
  db: Db | Tx,
  holding: Holding,
  position: { readonly block: bigint; readonly logIndex: number },
): Promise<Settlement | null> {
  const row = await selectHolding(db, holding)
    // A sweep that finally reverted took nothing.
    .where("swept_amount", ">", "0")
    .where(sql<boolean>`(taken_block, taken_log_index) > (${position.block}, ${position.logIndex})`)
    // In the order of the chain: the parts of one deposit end at the same place, or before an earlier sweep of its block.
    .orderBy("swept_block")
    .orderBy("swept_log_index")
    .limit(1)
    .executeTakeFirst();
  return row ? parseSettlement(row) : null;
}

/** Lists the recorded sweeps of a holding that are not final: a reorg can move them. */
export async function listUnfinalSweeps(
  tx: Tx,
  holding: Holding,
): Promise<readonly { readonly txHash: string; readonly blockHash: string }[]> {
  const rows = await selectHolding(tx, holding)
    .where("swept_amount", ">", "0")
    .where("sweep_final", "=", false)
    .where("status", "!=", "dead")
    .execute();
  return rows.flatMap(({ swap_tx_hash: txHash, swept_block_hash: blockHash }) =>
    txHash !== null && blockHash !== null ? [{ txHash, blockHash }] : [],
  );
}

/** Returns a settlement, or null when the id is unknown. */
export const getSettlement = gather(async (db, ids: readonly string[]) => {
  const rows = await db
    .selectFrom("settlements")
    .selectAll()
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .execute();
  return rows.map((row) => [row.id, row] as const);
}, parseSettlement);

/** Returns the number of settlements of an integrator on a chain that have not ended, at most `max`. */
export async function countOpen(
  tx: Tx,
  owner: { readonly integratorId: string; readonly chainId: number },
  max: number,
): Promise<number> {
  const { count } = await tx
    .selectFrom((from) =>
      from
        .selectFrom("settlements")
        .select("id")
        .where("chain_id", "=", owner.chainId)
        .where("integrator_id", "=", owner.integratorId)
        .where("status", "not in", literals(["completed", "dead"]))
        // Anybody can pay a token whose issuer then destroys it, and only an operator ends the quarantine.
        .where(sql<boolean>`error_details ->> 'reason' is distinct from 'quarantined'`)
        // Only lower costs end these, or further deposits.
        .where(sql<boolean>`coalesce(error_code, '') not in (${sql.join(TOO_LITTLE)})`)
        .limit(max)
        .as("open"),
    )
    .select((eb) => eb.fn.countAll<bigint>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Counts all settlements that a holding ever had. */
export async function countSettlements(
  db: Db | Tx,
  holding: Pick<Holding, "chainId" | "wallet" | "token">,
): Promise<bigint> {
  const { count } = await db
    .selectFrom("settlements")
    .select((eb) => eb.fn.countAll<bigint>().as("count"))
    .where("chain_id", "=", holding.chainId)
    .where("wallet", "=", holding.wallet)
    .where("token", "=", holding.token)
    .executeTakeFirstOrThrow();
  return count;
}

/** Returns the deposit address that a settlement sweeps. */
export async function readAddressOf(db: Db, id: string): Promise<DepositAddress> {
  const settlement = await getSettlement(db, id);
  assert(settlement !== null, "the settlement exists");
  return getAddressById(db, settlement.addressId);
}

/** Locks and returns a settlement's row. */
export async function lockSettlement(tx: Tx, id: string): Promise<Settlement> {
  const row = await tx
    .selectFrom("settlements")
    .selectAll()
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return parseSettlement(row);
}

/** Returns the error of a failing, deferred or dead settlement; null for any other status. */
export async function getError(db: Db | Tx, id: string): Promise<SettlementError | null> {
  const row = await db
    .selectFrom("settlements")
    .select(["error_code", "error_message", "error_retryable", "error_details"])
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return errorOf(row);
}

function selectHolding(db: Db | Tx, holding: Holding) {
  return db
    .selectFrom("settlements")
    .selectAll()
    .where("chain_id", "=", holding.chainId)
    .where("wallet", "=", holding.wallet)
    .where("token", "=", holding.token);
}
