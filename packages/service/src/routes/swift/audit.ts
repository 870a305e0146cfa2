/** Audit of locks and deliveries from inventory. It shares no queries with the code that wrote the rows. */
import { sql } from "kysely";
import type { BlockRef } from "../../chains/port/index.ts";
import { toHex32, toTxHash, type TxHash } from "../../core/hex.ts";
import type { Finding, RouteAudit, RouteAuditDeps } from "../../ledger/index.ts";

/** Deliveries per poll. */
const DELIVERIES_AT_ONCE = 200;
/** How far a node may lag, in milliseconds. */
const LAG_MAX_MS = 3_600_000;

export const swiftAudit: RouteAudit = {
  auditDelivered,
  auditHeld,
  inFlight: {
    followed: sql`select from deliveries d where d.settlement_id = s.id
                   and d.state not in ('claimed', 'returned', 'taken_back')`,
    shown: {
      name: "lock",
      state: sql`select state from deliveries where h.own is not null and settlement_id = h.own
                  order by created_at desc limit 1`,
    },
  },
};

/**
 * Checks V5 for deliveries from inventory: each claimed one paid the committed wallet and token at least the minimum. A
 * claim follows a final delivery, so each is audited once.
 */
async function auditDelivered(
  { db, chain, chains, clock }: RouteAuditDeps,
  scope: "next" | "all",
): Promise<Finding[]> {
  const { rows } = await sql<{
    id: string;
    settlement_id: string;
    dest_chain: number;
    paid: string;
    min_out: string;
    dest_wallet: string;
    dest_token: string;
    created_at: string;
    hint: string | null;
  }>`
    select d.id, d.settlement_id, a.dest_chain, d.delivered_amount::text as paid, d.min_out::text,
           a.dest_wallet, a.dest_token, d.created_at, d.delivered_tx_hash as hint
      from deliveries d join settlements s on s.id = d.settlement_id join addresses a on a.id = s.address_id
     where d.src_chain = ${chain.chainId} and d.state = 'claimed' and (not d.audited or ${scope === "all"})
     order by d.created_at limit ${scope === "all" ? null : DELIVERIES_AT_ONCE}`.execute(db);
  const findings: Finding[] = [];
  for (const row of rows) {
    const breach = (details: Record<string, string>) =>
      findings.push({
        chainId: chain.chainId,
        invariant: "V5",
        subject: row.settlement_id,
        details,
      });
    const destination = chains.get(row.dest_chain);
    if (!destination) continue;
    const found = await destination.findDelivery(toHex32(row.id), "final", toHints(row.hint));
    if (!found) {
      // This node may lag behind the one that proved the claim.
      const isLate = clock.now() - Date.parse(row.created_at) > LAG_MAX_MS;
      if (isLate || scope === "all") breach({ delivery: row.id, on_chain: "no such delivery" });
      continue;
    }
    const is = `${found.amount} of ${found.token} to ${found.to}`;
    const want = `${row.paid} of ${row.dest_token} to ${row.dest_wallet}`;
    if (is !== want) breach({ delivery: row.id, recorded: want, on_chain: is });
    if (found.amount < BigInt(row.min_out)) breach({ delivery: row.id, below: row.min_out });
    await db.updateTable("deliveries").set({ audited: true }).where("id", "=", row.id).execute();
  }
  return findings;
}

/** Checks V2: every lock in flight from inventory is in the escrow. */
async function auditHeld({ db, chain }: RouteAuditDeps, block: BlockRef): Promise<Finding[]> {
  const { rows } = await sql<{ id: string; locked: string; hint: string | null }>`
    select d.id, d.locked_amount::text as locked, s.swap_tx_hash as hint from deliveries d join settlements s on s.id = d.settlement_id
     where d.src_chain = ${chain.chainId} and d.state not in ('claimed', 'returned', 'taken_back')
       and s.swept_block <= ${block.number} order by d.created_at limit 200`.execute(db);
  const findings: Finding[] = [];
  for (const { id, locked, hint } of rows) {
    const lock = await chain.getLock(toHex32(id), "final", toHints(hint));
    if (lock?.amount === BigInt(locked)) continue;
    findings.push({
      chainId: chain.chainId,
      invariant: "V2",
      subject: id,
      details: { recorded: locked, on_chain: lock ? `${lock.amount}` : "no such lock" },
    });
  }
  return findings;
}

/** Transactions to try first on a chain without an index. They are hints; the evidence is verified like any other. */
function toHints(txHash: string | null): TxHash[] {
  return txHash === null ? [] : [toTxHash(txHash)];
}
