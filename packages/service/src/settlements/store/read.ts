/** Reads settlements, and locks them or their holding. */
import { sql } from "kysely";
import { type DepositAddress, getAddressById } from "../../addresses/index.ts";
import type { Db, Tx } from "../../db/schema.ts";
import type { Holding } from "../../deposits/index.ts";
import type { Settlement, SettlementError } from "../types.ts";
import { errorOf, parseSettlement } from "./row.ts";

/** Holds a holding until the end of the transaction: what is decided about it is decided one at a time. */
export async function lockHolding(tx: Tx, holding: Holding): Promise<void> {
  const key = `${holding.chainId}:${holding.wallet}:${holding.token}`;
  await sql`select pg_advisory_xact_lock(8, hashtext(${key}))`.execute(tx);
}

/** The one settlement of a holding that is not final, or null. */
export async function getActive(db: Db | Tx, holding: Holding): Promise<Settlement | null> {
  const row = await selectHolding(db, holding)
    .where("status", "not in", ["completed", "dead"])
    .executeTakeFirst();
  return row ? parseSettlement(row) : null;
}

/** The settlement whose mined sweep comes after a position on the chain, and so took what stood there. */
export async function getSweptAfter(
  db: Db | Tx,
  holding: Holding,
  position: { readonly block: bigint; readonly logIndex: number },
): Promise<Settlement | null> {
  const row = await selectHolding(db, holding)
    .where(sql<boolean>`(taken_block, taken_log_index) > (${position.block}, ${position.logIndex})`)
    .orderBy("taken_block")
    .orderBy("taken_log_index")
    .limit(1)
    .executeTakeFirst();
  return row ? parseSettlement(row) : null;
}

export async function getSettlement(db: Db | Tx, id: string): Promise<Settlement | null> {
  const row = await db
    .selectFrom("settlements")
    .selectAll()
    .where("id", "=", id)
    .executeTakeFirst();
  return row ? parseSettlement(row) : null;
}

/** How many settlements a holding has ever had. */
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

/** Reads the deposit address that a settlement sweeps. */
export async function readAddressOf(db: Db, id: string): Promise<DepositAddress> {
  const { address_id } = await db
    .selectFrom("settlements")
    .select("address_id")
    .where("id", "=", id)
    .executeTakeFirstOrThrow();
  return getAddressById(db, address_id);
}

/** Locks a settlement's row and reads it. */
export async function lockSettlement(tx: Tx, id: string): Promise<Settlement> {
  const row = await tx
    .selectFrom("settlements")
    .selectAll()
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return parseSettlement(row);
}

/** The error of a failing, deferred or dead settlement; null of any other. */
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
