/** Audit of locks and deliveries from inventory. It shares no queries with the code that wrote the rows. */
import { sql } from "kysely";
import type { BlockRef, Chain, Chains, Lock } from "../../chains/port/index.ts";
import { formatStamp } from "../../core/stamp.ts";
import { toAddress, toHex32, toTxHash, type TxHash } from "../../core/hex.ts";
import {
  type Audited,
  auditInTurns,
  type Finding,
  type Found,
  mapAtOnce,
  readFinalPoint,
  recordHeld,
  type RouteAudit,
  type RouteAuditDeps,
  toFinding,
  type Verdict,
} from "../../ledger/index.ts";

/** How long nodes may need to show a payout's transaction, in milliseconds. */
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

interface Claimed {
  readonly id: string;
  readonly settlement_id: string;
  readonly src_chain: number;
  readonly escrow: string;
  readonly seq: string;
  readonly dest_chain: number;
  readonly paid: string;
  readonly min_out: string;
  readonly dest_wallet: string;
  readonly dest_token: string;
  /** When the settler had seen the payout, in Unix milliseconds. */
  readonly seen_ms: number;
  readonly hint: string | null;
}

/**
 * Checks V5 for deliveries from inventory: each claimed one paid the committed wallet and token at least the minimum. A
 * claim follows a final delivery, so each is audited once.
 */
async function auditDelivered(
  { db, chain, chains, clock, log }: RouteAuditDeps,
  scope: "next" | "all",
): Promise<Found> {
  const list = async (limit: number | null) => {
    const { rows } = await sql<Claimed>`
    select d.id, d.settlement_id, d.src_chain, d.escrow, d.seq::text, a.dest_chain, d.delivered_amount::text as paid, d.min_out::text,
           a.dest_wallet, a.dest_token, extract(epoch from s.updated_at)::float8 * 1000 as seen_ms,
           d.delivered_tx_hash as hint
      from deliveries d join settlements s on s.id = d.settlement_id join addresses a on a.id = s.address_id
     where d.src_chain = ${chain.chainId} and d.state = 'claimed'
       and (${scope === "all"} or not d.audited and (d.audit_again_at is null or d.audit_again_at <= ${formatStamp(clock.now())}))
       and a.dest_chain = any(${[...chains.keys()]}::int[])
     order by d.audit_again_at nulls first, d.created_at limit ${limit}`.execute(db);
    return rows;
  };
  const { chainId } = chain;
  const record = async (ids: readonly string[], change: Audited) => {
    if ("audited" in change) {
      const held = { chainId, verdict: "payout_unproved", subjects: ids } as const;
      await recordHeld(db, held, clock.now());
    }
    await db
      .updateTable("deliveries")
      .set(change)
      .where(sql<boolean>`id = any(${ids}::text[])`)
      .where("audited", "=", false)
      .execute();
  };
  async function compare(row: Claimed) {
    const destination = chains.get(row.dest_chain);
    const faults = destination ? await comparePayout(destination, row) : "unknown";
    if (faults === "unknown") return { findings: [], isProved: false };
    if (faults === "unlocated") {
      log.warn({ deliveryId: row.id, txHash: row.hint }, "payout not located, auditing it later");
      const isLate = clock.now() - row.seen_ms > LAG_MAX_MS;
      return { findings: isLate ? [unproved(chainId, row)] : [], isProved: false };
    }
    const findings = faults.map(({ verdict, ...details }) =>
      toFinding(verdict, {
        chainId,
        subject: row.settlement_id,
        details: { delivery: row.id, ...details },
      }),
    );
    return { findings, isProved: faults.length === 0 };
  }
  return auditInTurns({ clock }, { list, scope, compare, record });
}

/** Returns the finding of a payout without its transaction. Its subject is not the settlement, which may get a graver one. */
function unproved(chainId: number, { id, settlement_id: settlement, dest_chain, hint }: Claimed) {
  return toFinding("payout_unproved", {
    chainId,
    subject: id,
    details: { settlement, chain: `${dest_chain}`, transaction: hint ?? "unknown" },
  });
}

type Fault = { readonly verdict: Verdict } & Readonly<Record<string, string>>;

/**
 * Returns the differences between a payout and its row; "unknown" where the node may be behind the payout, and "unlocated"
 * where the contract has made it and the node does not show its transaction.
 */
async function comparePayout(
  destination: Chain,
  row: Claimed,
): Promise<Fault[] | "unknown" | "unlocated"> {
  const at = await readFinalPoint(destination);
  const found = await destination.findDelivery(
    {
      deliveryId: toHex32(row.id),
      srcChain: row.src_chain,
      escrow: toAddress(row.escrow),
      seq: BigInt(row.seq),
    },
    at,
    toHints(row.hint),
  );
  if (found === "unlocated") return found;
  if (!found) {
    // Older than the moment at which the settler saw the payout, the block cannot show that there is none.
    if (Number(await destination.getTime(at)) * 1_000 <= row.seen_ms) return "unknown";
    return [{ verdict: "payout_missing", on_chain: "no such delivery" }];
  }
  const faults: Fault[] = [];
  const is = `${found.amount} of ${found.token} to ${found.to}`;
  const want = `${row.paid} of ${row.dest_token} to ${row.dest_wallet}`;
  if (is !== want) faults.push({ verdict: "payout_differs", recorded: want, on_chain: is });
  if (found.amount < BigInt(row.min_out)) {
    faults.push({ verdict: "payout_differs", below: row.min_out });
  }
  return faults;
}

interface Held {
  readonly id: string;
  readonly state: string;
  readonly commitment: string;
  readonly delivery: string;
  readonly token: string;
  readonly escrow: string;
  readonly locked: string;
  readonly min_out: string;
  readonly seq: string;
  readonly dest_chain: number;
  readonly hint: string | null;
}

/**
 * Checks V2: every lock in flight from inventory is in the escrow, and ended only as the payout allows. A lock that was paid
 * before it was final is looked for once it is; one whose loss an operator accepted is not.
 */
async function auditHeld({ db, chain, chains }: RouteAuditDeps, block: BlockRef): Promise<Found> {
  const { rows } = await sql<Held>`
    select d.id, d.state, a.commitment, d.delivery, d.token, d.escrow, d.locked_amount::text as locked, d.min_out::text,
           d.seq::text, a.dest_chain, s.swap_tx_hash as hint
      from deliveries d join settlements s on s.id = d.settlement_id join addresses a on a.id = s.address_id
     where d.src_chain = ${chain.chainId} and d.state not in ('claimed', 'returned', 'taken_back')
       and s.swept_block <= ${block.number}
       and not d.superseded
       -- Nothing is signed for a lock that is not paid early, and its sweep may have left the chain.
       and (d.orders > 0 or not exists (select from transactions t
            where t.settlement_id = d.settlement_id and t.intent like 'sweep:%')
         or exists (select from transactions t where t.settlement_id = d.settlement_id and t.intent like 'sweep:%'
            and t.state = 'final' and t.succeeded and t.mined_block_number = s.swept_block))
       and not exists (select from early_payouts e where e.delivery_id = d.id)
       and not exists (select from early_losses l where l.delivery_id = d.id and l.recovered_at is null) order by d.created_at`.execute(
    db,
  );
  return mapAtOnce(rows, async (row) => {
    const finding = await auditLock({ chain, chains }, row, block);
    return finding ? [finding] : [];
  });
}

async function auditLock(
  { chain, chains }: { readonly chain: Chain; readonly chains: Chains },
  { id, locked, hint, ...row }: Held,
  block: BlockRef,
): Promise<Finding | null> {
  const facts = {
    commitment: toHex32(row.commitment),
    delivery: toHex32(row.delivery),
    token: toAddress(row.token),
    amount: BigInt(locked),
    minOut: BigInt(row.min_out),
    seq: BigInt(row.seq),
  };
  const found = (verdict: Verdict, details: Record<string, string>, repair?: Finding["repair"]) =>
    toFinding(verdict, {
      chainId: chain.chainId,
      subject: id,
      details: { recorded: locked, ...details },
      ...(repair ? { repair } : {}),
    });
  // The escrow knows a lock by the hash of all of it: a row with another fact names no lock.
  const isSame = chain.deliveryIdOf(facts) === id;
  const at = await readFinalPoint(chain, block);
  const lock = isSame ? await chain.getLock(facts, at, toHints(hint)) : null;
  if (!lock) return found("lock_missing", { on_chain: "no such lock" });
  if (lock.amount !== facts.amount) return found("lock_differs", { on_chain: `${lock.amount}` });
  if (lock.state === "locked") return null;
  const destination = chains.get(row.dest_chain);
  if (!destination) return null;
  const paid = await wasPaid(destination, {
    ...row,
    id,
    srcChain: chain.chainId,
    endedBy: await chain.getTime(at),
  });
  if (paid === "unknown") return null;
  const details = { state: row.state, on_chain: `${lock.amount}, ${lock.state}` };
  if (lock.state === "claimed") {
    return paid ? null : found("lock_claimed_unpaid", details);
  }
  return paid ? found("lock_lost", details, endingOf(id, lock.state, block)) : null;
}

function endingOf(
  delivery: string,
  state: Exclude<Lock["state"], "locked" | "claimed">,
  { number }: BlockRef,
): Finding["repair"] {
  return { kind: "end_lock", delivery, state, height: `${number}` };
}

/**
 * Returns whether a final block shows the payout of a lock; "unknown" where there is none and the destination's block is
 * older than the end of the lock.
 */
async function wasPaid(
  destination: Chain,
  {
    id,
    escrow,
    seq,
    srcChain,
    endedBy,
  }: Pick<Held, "id" | "escrow" | "seq"> & {
    readonly srcChain: number;
    /** Time of a block that shows the end of the lock, in Unix seconds. */
    readonly endedBy: bigint;
  },
): Promise<boolean | "unknown"> {
  const at = await readFinalPoint(destination);
  const paid = { deliveryId: toHex32(id), srcChain, escrow: toAddress(escrow), seq: BigInt(seq) };
  if (await destination.isDelivered(paid, at)) return true;
  return (await destination.getTime(at)) > endedBy ? false : "unknown";
}

/** Transactions to try first on a chain without an index. They are hints; the evidence is verified like any other. */
function toHints(txHash: string | null): TxHash[] {
  return txHash === null ? [] : [toTxHash(txHash)];
}
