/** Breaches: what the auditor found to be otherwise than it must be. While a chain has an open one, nothing moves there. */
import { sql } from "kysely";
import type { Address } from "../core/hex.ts";
import type { Clock } from "../core/ports.ts";
import { formatStamp } from "../core/stamp.ts";
import type { Db, Tx } from "../db/schema.ts";

/** Names of the invariants, as `docs/ledger.md` explains them. */
export const INVARIANTS = ["V1", "V2", "V3", "V4", "V5", "V6", "V8", "V10"] as const;
export type Invariant = (typeof INVARIANTS)[number];

/** One statement that does not hold of one thing. */
export interface Finding {
  readonly chainId: number;
  readonly invariant: Invariant;
  /** What it is about: a wallet and token, a settlement, a lane, a block and log. */
  readonly subject: string;
  /** For a person: amounts are decimal strings of base units. */
  readonly details: Readonly<Record<string, string>>;
  /** What has to be posted or changed before the finding can be ended. */
  readonly repair?: Repair;
}

/** Told apart by `kind`. */
export type Repair =
  /** The account says more than there is; what is missing goes to `external`. */
  | {
      readonly kind: "write_off";
      readonly account: "wallet" | "transit";
      readonly owner: Address;
      readonly token: Address;
      readonly amount: string;
      readonly block: string;
    }
  /** The lane goes on from the chain's count. */
  | { readonly kind: "adopt_nonce"; readonly lane: Address; readonly nonce: number };

export interface Breach extends Finding {
  readonly id: string;
  readonly foundAt: string;
}

/** Whether nothing may move on a chain. */
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
 * Opens a breach for each finding that has none; returns those it opened. What an operator has ended stays ended while
 * it is the same in every detail: a sweep of another time stays on the chain for ever.
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

/** The open ones, of one chain or all, the oldest first. */
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

export interface EndDeps {
  readonly db: Db;
  readonly clock: Clock;
  /** Has a lane go on from a nonce of the chain's, unless it is there already. */
  readonly adoptNonce: (
    tx: Tx,
    lane: { readonly chainId: number; readonly address: Address },
    nonce: number,
  ) => Promise<void>;
}

/**
 * Ends a breach that an operator has understood: what is missing is written off in the ledger, a lane goes on from the
 * chain's count. What still does not hold is found again. Returns false when no open breach has the id.
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
