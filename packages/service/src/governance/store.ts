/** The tables `governance_changes` and `governance_watches`. */
import { sql } from "kysely";
import { GOVERNANCE_STEPS, type GovernanceChange, GOVERNED_ROLES } from "../chains/port/index.ts";
import { Bug } from "../core/assert.ts";
import { toAddress, toTxHash } from "../core/hex.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db } from "../db/schema.ts";

/** A change as it is kept. */
export interface KeptChange extends GovernanceChange {
  /** Names the change to an operator. */
  readonly id: bigint;
  /** Bridge chain id. */
  readonly chainId: number;
  /** The operator's statement that it was expected; null without one. */
  readonly expected: { readonly by: string; readonly reason: string } | null;
}

/** Returns the last block up to which the changes of a chain are known; null before the first read. */
export async function getReadTo(db: Db, chainId: number): Promise<bigint | null> {
  const row = await db
    .selectFrom("governance_watches")
    .select("read_to")
    .where("chain_id", "=", chainId)
    .executeTakeFirst();
  return row?.read_to ?? null;
}

/** Returns whether the changes of any chain were known up to its newest final block. */
export async function hasComplete(db: Db): Promise<boolean> {
  const row = await db
    .selectFrom("governance_watches")
    .select("chain_id")
    .where("complete_at", "is not", null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Keeps the changes up to a block. A change that is kept already stays as it is. */
export async function keep(
  db: Db,
  chainId: number,
  read: { readonly changes: readonly GovernanceChange[]; readonly to: bigint },
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const rows = read.changes.map((change) => ({
      chain_id: chainId,
      block_number: change.blockNumber,
      log_index: change.logIndex,
      tx_hash: change.txHash,
      contract: change.contract,
      role: change.role,
      subject: change.subject,
      token: change.token,
      step: change.step,
      per_day: change.perDay,
      ready_at: change.readyAt,
      at_deployment: change.atDeployment,
    }));
    if (rows.length > 0) {
      await tx
        .insertInto("governance_changes")
        .values(rows)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
    await tx
      .insertInto("governance_watches")
      .values({ chain_id: chainId, read_to: read.to })
      .onConflict((conflict) => conflict.column("chain_id").doUpdateSet({ read_to: read.to }))
      .execute();
  });
}

/** Lists the changes of one chain or of all, in order. */
export async function list(db: Db, chainId?: number): Promise<readonly KeptChange[]> {
  const rows = await db
    .selectFrom("governance_changes")
    .selectAll()
    .$if(chainId !== undefined, (query) => query.where("chain_id", "=", chainId ?? 0))
    .orderBy("chain_id")
    .orderBy("block_number")
    .orderBy("log_index")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    chainId: row.chain_id,
    contract: toAddress(row.contract),
    role: oneOf(GOVERNED_ROLES, row.role),
    subject: toAddress(row.subject),
    token: row.token === null ? null : toAddress(row.token),
    step: oneOf(GOVERNANCE_STEPS, row.step),
    perDay: row.per_day === null ? null : BigInt(row.per_day),
    readyAt: row.ready_at,
    atDeployment: row.at_deployment,
    blockNumber: row.block_number,
    logIndex: row.log_index,
    txHash: toTxHash(row.tx_hash),
    expected:
      row.expected_by === null ? null : { by: row.expected_by, reason: row.expected_reason ?? "" },
  }));
}

function oneOf<Name extends string>(names: readonly Name[], text: string): Name {
  const found = names.find((name) => name === text);
  if (found === undefined) throw new Bug(`unknown name in governance_changes: ${text}`);
  return found;
}

/**
 * Marks exactly these changes of a chain as unexpected, and that everything up to the newest final block is judged. Returns
 * those that were not marked before.
 */
export async function mark(
  db: Db,
  chainId: number,
  { unexpected, nowMs }: { readonly unexpected: readonly bigint[]; readonly nowMs: number },
): Promise<ReadonlySet<bigint>> {
  const ids = sql<bigint[]>`${[...unexpected].map(String)}::bigint[]`;
  return db.transaction().execute(async (tx) => {
    const changed = await tx
      .updateTable("governance_changes")
      .set({ unexpected: sql<boolean>`not unexpected` })
      .where("chain_id", "=", chainId)
      .where(sql<boolean>`unexpected <> (id = any(${ids}))`)
      .returning(["id", "unexpected"])
      .execute();
    await tx
      .updateTable("governance_watches")
      .set({ complete_at: formatStamp(nowMs) })
      .where("chain_id", "=", chainId)
      .execute();
    return new Set(changed.flatMap((row) => (row.unexpected ? row.id : [])));
  });
}

/** Records that an operator expected a change. Returns false for an unknown id, or if it was recorded before. */
export async function expectChange(
  db: Db,
  id: bigint,
  {
    operator,
    reason,
    nowMs,
  }: { readonly operator: string; readonly reason: string; readonly nowMs: number },
): Promise<boolean> {
  const changed = await db
    .updateTable("governance_changes")
    .set({
      expected_by: operator,
      expected_reason: reason,
      expected_at: formatStamp(nowMs),
      unexpected: false,
    })
    .where("id", "=", id)
    .where("expected_by", "is", null)
    .returning("id")
    .executeTakeFirst();
  return changed !== undefined;
}
