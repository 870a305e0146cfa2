/** Audits value in flight: the amounts that sweeps took against the records of ended settlements. */
import { sql } from "kysely";
import type { BlockRef } from "../chains/port/index.ts";
import type { Address } from "../core/hex.ts";
import { formatStamp } from "../core/stamp.ts";
import { type Finding, toFinding } from "./breaches.ts";
import type { AuditDeps } from "./audit-deps.ts";

/**
 * V4: once its settlements have ended, the sweeps of a wallet took the amounts that the settlements recorded. Waits for the
 * scanner where a settlement has recorded the return of a lock that may be above the compared block.
 */
export async function auditTransit(
  { db, chain }: AuditDeps,
  at: bigint,
  transit: readonly { owner: Address; token: Address; amount: bigint }[],
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { owner, token, amount } of transit) {
    if (amount === 0n) continue;
    const { rows } = await sql`
      select from settlements where chain_id = ${chain.chainId} and wallet = ${owner} and token = ${token}
        and (status not in ('completed', 'dead') or (status = 'completed' and not sweep_final))
      limit 1`.execute(db);
    if (rows.length > 0) continue;
    const { rows: ahead } = await sql`
      select from ledger_lines where chain_id = ${chain.chainId} and account = 'transit' and owner = ${owner}
        and token = ${token} and reason = 'sweep' and amount > 0 and block_number > ${at}
      limit 1`.execute(db);
    if (ahead.length > 0) continue;
    findings.push(
      toFinding("sweep_unrecorded", {
        chainId: chain.chainId,
        subject: `${owner}:${token}`,
        details: { block: `${at}`, swept_beyond_what_settlements_recorded: `${amount}` },
        holding: { wallet: owner, token },
        repair: {
          kind: "write_off",
          account: "transit",
          owner,
          token,
          amount: `${amount}`,
          block: `${at}`,
        },
      }),
    );
  }
  return findings;
}

/** V4: every sweep on the final chain is one of our transactions. */
export async function auditSweeps(
  { db, chain }: AuditDeps,
  block: BlockRef,
  sinceBlock: bigint,
): Promise<Finding[]> {
  const { rows } = await sql<{ place: string; wallet: string; amount: string; tx_hash: string }>`
    select block_number || ':' || log_index as place, wallet, amount::text, tx_hash from outflows o
     where chain_id = ${chain.chainId} and kind = 'swept' and tx_hash <> ''
       and block_number <= ${block.number} and block_number > ${sinceBlock}
       and not exists (select from attempts a where a.hash = o.tx_hash)
     limit 100`.execute(db);
  return rows.map(({ place, wallet, amount, tx_hash }) =>
    toFinding("sweep_unknown", {
      chainId: chain.chainId,
      subject: place,
      details: { wallet, amount, unknown_transaction: tx_hash },
    }),
  );
}

/**
 * V6, V8: an ended settlement recorded the amount of its sweep, or zero where it finally reverted, and has no value in flight
 * without a follower.
 */
export async function auditEnded(
  { db, chain, routes }: AuditDeps,
  /** The newest block of which no log can be missing. */
  certain: bigint,
  sinceMs: number,
): Promise<Finding[]> {
  const { chainId } = chain;
  const { rows: unseen } = await sql<{ id: string; swept_amount: string; seen: string | null }>`
    select s.id, s.swept_amount::text, o.amount::text as seen from settlements s
      left join outflows o on o.chain_id = s.chain_id and o.wallet = s.wallet and o.token = s.token
        and o.kind = 'swept' and o.block_number = s.swept_block and o.log_index = s.swept_log_index
     where s.chain_id = ${chainId} and s.status = 'completed' and s.sweep_final
       and s.updated_at >= ${formatStamp(sinceMs)} and s.swept_block <= ${certain}
       and coalesce(o.amount, 0) is distinct from s.swept_amount
     limit 100`.execute(db);
  const { rows: left } = await sql<{ id: string; status: string; amount: string }>`
    select s.id, s.status, l.amount::text from settlements s
      join lateral (
        select sum(amount) as amount from ledger_lines
         where chain_id = s.chain_id and account = 'in_flight' and owner = s.id::text
      ) as l on l.amount <> 0
     where s.chain_id = ${chainId} and s.status in ('completed', 'dead')
       and s.updated_at >= ${formatStamp(sinceMs)}
       ${sql.join(
         routes.map(({ inFlight }) => sql`and not exists (${inFlight.followed})`),
         sql` `,
       )}
     limit 100`.execute(db);
  return [
    ...unseen.map(({ id, swept_amount, seen }) =>
      toFinding("sweep_differs", {
        chainId,
        subject: id,
        details: { recorded: swept_amount, on_chain: seen ?? "no such sweep" },
      }),
    ),
    ...left.map(({ id, status, amount }) =>
      toFinding("flight_unfollowed", {
        chainId,
        subject: id,
        details: { status, in_flight: amount },
      }),
    ),
  ];
}
