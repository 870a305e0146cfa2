/** Signed transactions: committed before they are sent, with the outcome of each send. */
import { type Selectable, sql } from "kysely";
import type { SendOutcome } from "../chains/port/index.ts";
import { type Hex, toHex32, toTxHash } from "../core/hex.ts";
import { formatStamp } from "../core/stamp.ts";
import type { AttemptsTable } from "../db/chain-tables.ts";
import { gatherLists } from "../db/gather.ts";
import { literal } from "../db/literals.ts";
import type { Db } from "../db/schema.ts";
import type { Attempt } from "./types.ts";

/** Returns the attempts of a transaction, newest first. */
export const listAttempts = gatherLists(async (db, transactionIds) => {
  const rows = await db
    .selectFrom("attempts")
    .selectAll()
    .where(sql<boolean>`transaction_id = any(${transactionIds}::uuid[])`)
    .orderBy("number", "desc")
    .execute();
  return rows.map((row) => [row.transaction_id, row] as const);
}, parseAttempt);

/**
 * Commits an attempt before it is sent. Returns false if another process committed an attempt with this number first, or
 * took the nonce back: only the committed bytes may be sent.
 */
export async function insertAttempt(
  db: Db,
  { id: transactionId, nonce }: { readonly id: string; readonly nonce: number },
  attempt: Omit<Attempt, "sentAtMs" | "sends" | "outcome" | "accepted">,
): Promise<boolean> {
  // The lock orders this with a process that takes the nonce back: bytes for a nonce taken back are never sent.
  const { numAffectedRows } = await sql`
    with held as materialized (
      select id from transactions
       where id = ${transactionId} and state = ${literal("assigned")} and nonce = ${nonce} for share
    )
    insert into "attempts" (hash, transaction_id, number, raw, max_fee_per_gas, max_priority_fee_per_gas,
                          blockhash, last_valid_height, created_at, cancels)
    select ${attempt.hash}, held.id, ${attempt.number}, ${attempt.raw}, ${attempt.gasPriceMax}, ${attempt.tipMax},
           ${attempt.lifetime?.blockhash ?? null}, ${attempt.lifetime?.lastValidHeight ?? null},
           ${formatStamp(attempt.signedAtMs)}, ${attempt.cancels}
      from held
    on conflict do nothing`.execute(db);
  return numAffectedRows === 1n;
}

/** Returns whether a node has the transaction after this answer. */
export function isAccepted(outcome: SendOutcome): boolean {
  return outcome === "accepted" || outcome === "known";
}

/** Records the time and outcome of a send. `accepted` never returns to false here. */
export async function recordSend(
  db: Db,
  hash: string,
  { nowMs, outcome }: { readonly nowMs: number; readonly outcome: SendOutcome },
): Promise<void> {
  await db
    .updateTable("attempts")
    .set({
      sent_at: formatStamp(nowMs),
      outcome,
      // The first acceptance starts the count again: from then on the attempt is only rebroadcast.
      sends: sql<number>`case when ${isAccepted(outcome)} and not accepted then 1 else sends + 1 end`,
      // One acceptance is enough: a later refusal, such as "already known", does not undo it.
      accepted: sql<boolean>`accepted or ${isAccepted(outcome)}`,
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
    sends: row.sends,
    // CAST: held by the column's check constraint.
    outcome: row.outcome as SendOutcome | null,
    accepted: row.accepted,
    cancels: row.cancels,
  };
}
