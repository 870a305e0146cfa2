/** Breaches: violated invariants that the auditor found. A chain with an open breach is halted. */
import { sql } from "kysely";
import type { Address } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db, Tx } from "../db/schema.ts";

/** Names of the invariants, defined in `docs/ledger.md`. */
export const INVARIANTS = ["V1", "V2", "V3", "V4", "V5", "V6", "V8", "V10"] as const;
export type Invariant = (typeof INVARIANTS)[number];

/** A violation of one invariant by one subject. */
export interface Finding {
  readonly chainId: number;
  readonly invariant: Invariant;
  /** The violating object: wallet and token, settlement, lane, or block and log. */
  readonly subject: string;
  /** Facts for the operator. Amounts are decimal strings of base units. */
  readonly details: Readonly<Record<string, string>>;
  /** Correction that ending the breach applies. */
  readonly repair?: Repair;
}

/** Correction of the ledger or of a lane. */
export type Repair =
  /** Moves the missing amount from the account to `external`. */
  | {
      readonly kind: "write_off";
      readonly account: "wallet" | "transit";
      readonly owner: Address;
      readonly token: Address;
      readonly amount: string;
      readonly block: string;
    }
  /** Continues the lane from the chain's nonce. */
  | { readonly kind: "adopt_nonce"; readonly lane: Address; readonly nonce: number };

export interface Breach extends Finding {
  readonly id: string;
  readonly foundAt: string;
}

/** Returns whether a chain is halted by an open breach. */
export async function isHalted(db: Db | Tx, chainId: number): Promise<boolean> {
  const row = await db
    .selectFrom("breaches")
    .select("id")
    .where("chain_id", "=", chainId)
    .where("ended_at", "is", null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Opens a breach for each finding without one, and returns the new ones. A breach that an operator ended is not opened
 * again while all its details are the same: an unknown sweep, for example, stays on the chain permanently.
 */
export async function recordFindings(db: Db, findings: readonly Finding[]): Promise<Finding[]> {
  const opened: Finding[] = [];
  for (const finding of findings) {
    const { chainId, invariant, subject, details, repair } = finding;
    const facts = JSON.stringify({ ...details, ...(repair ? { repair } : {}) });
    const { rows } = await sql`
      insert into breaches (chain_id, invariant, subject, details)
      select ${chainId}, ${invariant}, ${subject}, ${facts}::jsonb
       where not exists (select from breaches where chain_id = ${chainId} and invariant = ${invariant}
                          and subject = ${subject} and details = ${facts}::jsonb and ended_at is not null)
      on conflict (chain_id, invariant, subject) where ended_at is null do nothing
      returning id`.execute(db);
    if (rows.length > 0) opened.push(finding);
  }
  return opened;
}

/** Returns the open breaches of one chain or of all, the oldest first. */
export async function listBreaches(db: Db | Tx, chainId?: number): Promise<Breach[]> {
  const rows = await db
    .selectFrom("breaches")
    .selectAll()
    .where("ended_at", "is", null)
    .$if(chainId !== undefined, (query) => query.where("chain_id", "=", chainId ?? 0))
    .orderBy("id")
    .execute();
  return rows.map((row) => {
    // CAST: `recordFindings` alone writes these.
    const { repair, ...details } = row.details as Record<string, string> & { repair?: Repair };
    return {
      id: row.id.toString(),
      chainId: row.chain_id,
      // CAST: `recordFindings` alone writes these.
      invariant: row.invariant as Invariant,
      subject: row.subject,
      details,
      ...(repair ? { repair } : {}),
      foundAt: row.found_at,
    };
  });
}

/** Dependencies of ending a breach. */
export interface EndDeps {
  readonly db: Db;
  readonly clock: Clock;
  /** Moves a lane forward to a nonce of the chain; does nothing when the lane is there already. */
  readonly adoptNonce: (
    tx: Tx,
    lane: { readonly chainId: number; readonly address: Address },
    nonce: number,
  ) => Promise<void>;
}

/**
 * Ends a breach and applies its repair, in one transaction. An invariant that is still violated opens another breach at
 * the next audit. Returns false when no open breach has the id.
 */
export async function endBreach(
  deps: EndDeps,
  end: { readonly id: string; readonly operator: string; readonly reason: string },
): Promise<boolean> {
  return deps.db.transaction().execute(async (tx) => {
    const open = await listBreaches(tx);
    const breach = open.find(({ id }) => id === end.id);
    if (!breach) return false;
    const { numUpdatedRows } = await tx
      .updateTable("breaches")
      .set({
        ended_at: formatStamp(deps.clock.now()),
        ended_by: end.operator,
        end_reason: end.reason,
      })
      .where("id", "=", BigInt(end.id))
      .where("ended_at", "is", null)
      .executeTakeFirst();
    if (numUpdatedRows !== 1n) return false;
    if (breach.repair) await repair(tx, deps, breach, breach.repair);
    return true;
  });
}

async function repair(
  tx: Tx,
  { adoptNonce }: EndDeps,
  breach: Breach,
  wanted: Repair,
): Promise<void> {
  if (wanted.kind === "adopt_nonce") {
    return adoptNonce(tx, { chainId: breach.chainId, address: wanted.lane }, wanted.nonce);
  }
  const { account, owner, token, amount, block } = wanted;
  await sql`select post_move('adjustment', ${`breach:${breach.id}`}, ${breach.chainId}, ${token}, ${block}::bigint,
    ${account}, ${owner}, 'external', '', ${amount}::numeric)`.execute(tx);
}
