/** Signed transactions: committed before they are sent, with the outcome of each send. */
import { type Selectable, sql } from "kysely";
import { type Hex, toHex32, toTxHash } from "../core/hex.ts";
import { formatStamp } from "../core/stamp.ts";
import type { AttemptsTable } from "../db/chain-tables.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { Attempt } from "./types.ts";

/** Returns the attempts of a transaction, newest first. */
export async function listAttempts(db: Db | Tx, transactionId: string): Promise<Attempt[]> {
  const rows = await db
    .selectFrom("attempts")
    .selectAll()
    .where("transaction_id", "=", transactionId)
    .orderBy("number", "desc")
    .execute();
  return rows.map(parseAttempt);
}

/**
 * Commits an attempt before it is sent. Returns false if another process committed an attempt with this number first: only
 * the committed bytes may be sent.
 */
export async function insertAttempt(
  db: Db,
  transactionId: string,
  attempt: Omit<Attempt, "sentAtMs" | "accepted">,
): Promise<boolean> {
  const result = await db
    .insertInto("attempts")
    .values({
      hash: attempt.hash,
      transaction_id: transactionId,
      number: attempt.number,
      raw: attempt.raw,
      max_fee_per_gas: attempt.gasPriceMax,
      max_priority_fee_per_gas: attempt.tipMax,
      blockhash: attempt.lifetime?.blockhash ?? null,
      last_valid_height: attempt.lifetime?.lastValidHeight ?? null,
      created_at: formatStamp(attempt.signedAtMs),
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return result.numInsertedOrUpdatedRows === 1n;
}

/** Records the time of a send and whether a node accepted the attempt. `accepted` never returns to false here. */
export async function recordSend(
  db: Db,
  hash: string,
  outcome: { readonly nowMs: number; readonly accepted: boolean },
): Promise<void> {
  await db
    .updateTable("attempts")
    .set({
      sent_at: formatStamp(outcome.nowMs),
      // One acceptance is enough: a later refusal, such as "already known", does not undo it.
      accepted: sql<boolean>`accepted or ${outcome.accepted}`,
    })
    .where("hash", "=", hash)
    .execute();
}

function parseAttempt(row: Selectable<AttemptsTable>): Attempt {
  return {
    hash: toTxHash(row.hash),
    number: row.number,
    // CAST: written as Hex by insertAttempt.
    raw: row.raw as Hex,
    gasPriceMax: BigInt(row.max_fee_per_gas),
    tipMax: BigInt(row.max_priority_fee_per_gas),
    lifetime:
      row.blockhash === null || row.last_valid_height === null
        ? null
        : { blockhash: toHex32(row.blockhash), lastValidHeight: row.last_valid_height },
    signedAtMs: Date.parse(row.created_at),
    sentAtMs: row.sent_at === null ? null : Date.parse(row.sent_at),
    accepted: row.accepted,
  };
}
