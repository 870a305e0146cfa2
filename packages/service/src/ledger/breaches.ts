/**
 * Breaches: violated invariants that the auditor found. A breach of one wallet and token quarantines that token in that
 * wallet; any other halts the chain, until an operator ends it, unless its verdict stops nothing.
 */
import { type Selectable, sql, type SqlBool } from "kysely";
import { assert } from "../core/assert.ts";
import { type Address, toAddress } from "../core/hex.ts";
import { formatStamp } from "../core/stamp.ts";
import { eachOf, gather, gatherCalls, type HoldingKey } from "../db/gather.ts";
import type { BreachesTable, Db, Tx } from "../db/schema.ts";
import {
  CLAIMS_STOP,
  type Invariant,
  isVerdict,
  STOP_NOTHING,
  type Verdict,
  VERDICTS,
} from "./verdicts.ts";

/** A violation of one invariant by one subject. */
export interface Finding {
  readonly chainId: number;
  readonly invariant: Invariant;
  readonly verdict: Verdict;
  /** The violating object: wallet and token, settlement, lane, block, or block and log. */
  readonly subject: string;
  /** Facts for the operator. Amounts are decimal strings of base units. */
  readonly details: Readonly<Record<string, string>>;
  /** The quarantined wallet and token. */
  readonly holding?: { readonly wallet: Address; readonly token: Address };
  /** Correction that ending the breach applies. */
  readonly repair?: Repair;
}

/** Correction of the ledger, of a lane or of other rows. */
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
  | { readonly kind: "adopt_nonce"; readonly lane: Address; readonly nonce: number }
  /** Ends a delivery as the escrow ended its lock. */
  | {
      readonly kind: "end_lock";
      readonly delivery: string;
      readonly state: "returned" | "taken_back";
      readonly height: string;
    }
  /** Lets the scanner remove final blocks from `hash` up, and opens later transactions again. */
  | { readonly kind: "rewind"; readonly above: string; readonly hash: string };

export interface Breach extends Omit<Finding, "verdict"> {
  readonly id: string;
  /** Null in rows of earlier releases. */
  readonly verdict: Verdict | null;
  readonly foundAt: string;
  /** Since when the compared values agree again; absent while they do not. */
  readonly heldSince?: string;
}

/** Returns a finding. */
export function toFinding(
  verdict: Verdict,
  facts: Omit<Finding, "invariant" | "verdict">,
): Finding {
  const { invariant, stops } = VERDICTS[verdict];
  assert((stops === "wallet") === (facts.holding !== undefined), `${verdict} stops a ${stops}`);
  return { invariant, verdict, ...facts };
}

/** Transactions and signatures withheld on a chain with open breaches. */
export type Halt = "none" | "except_claims" | "all";

/** Condition of breaches whose verdict stops nothing. */
const STOPS_NOTHING = sql<SqlBool>`coalesce(verdict, '') in (${sql.join(STOP_NOTHING.map((name) => sql.lit(name)))})`;

/** Condition of open breaches that halt their chain. */
export const OF_HALTS = sql<SqlBool>`ended_at is null and wallet is null and not ${STOPS_NOTHING}`;

/** Condition of open breaches that stop nothing and whose proof is still missing. */
export const OF_UNPROVED = sql<SqlBool>`ended_at is null and ${STOPS_NOTHING} and held_since is null`;

/**
 * Returns whether open breaches halt a chain. Quarantines do not. A lane whose nonces somebody else used sends nothing, even
 * where other lanes may still claim.
 */
export async function readHalt(db: Db | Tx, chainId: number, lane?: Address): Promise<Halt> {
  return (await readHalts(db, `${chainId} ${lane ?? ""}`)) ?? "none";
}

/** By chain and lane, separated by a space. */
const readHalts = gather(
  async (db, keys: readonly string[]) => {
    const { rows } = await sql<{ key: string; claims_stop: boolean | null }>`
    select asked.key, bool_or(verdict is null or verdict = any(${CLAIMS_STOP})
             or invariant = 'V10' and subject = split_part(asked.key, ' ', 2)) as claims_stop
      from unnest(${keys}::text[]) as asked (key)
      join breaches on chain_id = split_part(asked.key, ' ', 1)::integer and ${OF_HALTS}
     group by asked.key`.execute(db);
    return rows.map((row) => [row.key, row.claims_stop === true] as const);
  },
  (claimsStop): Halt => (claimsStop ? "all" : "except_claims"),
);

/** Returns whether a chain is halted by an open breach. */
export async function isHalted(db: Db | Tx, chainId: number): Promise<boolean> {
  return (await readHalt(db, chainId)) !== "none";
}

/** Returns whether a token in a wallet is quarantined by an open breach. */
export const isQuarantined = gatherCalls(async (db, holdings: readonly HoldingKey[]) => {
  const { rows } = await sql<{ is_quarantined: boolean }>`
    select exists (select from breaches where chain_id = held.chain_id and wallet = held.wallet
             and token = held.token and ended_at is null) as is_quarantined
      from ${eachOf(holdings)} order by held.place`.execute(db);
  return rows.map((row) => row.is_quarantined);
});

/** Returns quarantined wallets of a chain, the oldest breach first. */
export async function listQuarantinedWallets(
  db: Db,
  chainId: number,
  limit: number,
): Promise<Address[]> {
  const rows = await db
    .selectFrom("breaches")
    .select(["wallet", (eb) => eb.fn.min("id").as("first")])
    .where("chain_id", "=", chainId)
    .where("wallet", "is not", null)
    .where("ended_at", "is", null)
    .groupBy("wallet")
    .orderBy("first")
    .limit(limit)
    .execute();
  return rows.flatMap(({ wallet }) => (wallet === null ? [] : [toAddress(wallet)]));
}

/**
 * Opens a breach for each finding without one, and returns the new ones. An open breach takes the newest facts. A breach
 * that an operator ended is not opened again while all its details are the same: an unknown sweep, for example, stays on
 * the chain permanently. Nor is one of `openBefore`, the ids of breaches that were open when the audit began: the audit may
 * have read the books before the repair, and the repair of a second breach would correct them twice.
 */
export async function recordFindings(
  db: Db,
  findings: readonly Finding[],
  openBefore: readonly string[] = [],
): Promise<Finding[]> {
  const opened: Finding[] = [];
  for (const finding of findings) {
    const { chainId, invariant, verdict, subject, details, holding, repair } = finding;
    const facts = JSON.stringify({ ...details, ...(repair ? { repair } : {}) });
    const { rows } = await sql<{ is_new: boolean }>`
      insert into breaches (chain_id, invariant, verdict, subject, details, wallet, token)
      select ${chainId}, ${invariant}, ${verdict}, ${subject}, ${facts}::jsonb,
             ${holding?.wallet ?? null}, ${holding?.token ?? null}
       where not exists (select from breaches where chain_id = ${chainId} and invariant = ${invariant}
                          and subject = ${subject} and ended_at is not null
                          and (details = ${facts}::jsonb or id = any(${openBefore}::bigint[])))
      on conflict (chain_id, invariant, subject) where ended_at is null
        do update set details = excluded.details, verdict = excluded.verdict, held_since = null
        where breaches.verdict = excluded.verdict
          and (breaches.details <> excluded.details or breaches.held_since is not null)
      returning (xmax = 0) as is_new`.execute(db);
    if (rows[0]?.is_new) opened.push(finding);
  }
  return opened;
}

/** Records that the values of open breaches agree again: ending them corrects nothing then. */
export async function recordHeld(
  db: Db,
  held: {
    readonly chainId: number;
    readonly verdict: Verdict;
    readonly subjects: readonly string[];
  },
  nowMs: number,
): Promise<void> {
  if (held.subjects.length === 0) return;
  await db
    .updateTable("breaches")
    .set({ held_since: formatStamp(nowMs) })
    .where("chain_id", "=", held.chainId)
    .where("verdict", "=", held.verdict)
    .where(sql<boolean>`subject = any(${held.subjects}::text[])`)
    .where("ended_at", "is", null)
    .where("held_since", "is", null)
    .execute();
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
  return rows.map(parseBreach);
}

function parseBreach(row: Selectable<BreachesTable>): Breach {
  // CAST: `recordFindings` alone writes these.
  const { repair, ...details } = row.details as Record<string, string> & { repair?: Repair };
  const { wallet, token, verdict } = row;
  return {
    id: row.id.toString(),
    chainId: row.chain_id,
    // CAST: `recordFindings` alone writes these.
    invariant: row.invariant as Invariant,
    verdict: verdict !== null && isVerdict(verdict) ? verdict : null,
    subject: row.subject,
    details,
    ...(wallet !== null && token !== null
      ? { holding: { wallet: toAddress(wallet), token: toAddress(token) } }
      : {}),
    ...(repair ? { repair } : {}),
    foundAt: row.found_at,
    ...(row.held_since === null ? {} : { heldSince: row.held_since }),
  };
}

/** Returns whether an open breach halts its chain. */
export function haltsChain({ holding, verdict }: Pick<Breach, "holding" | "verdict">): boolean {
  return holding === undefined && (verdict === null || !STOP_NOTHING.includes(verdict));
}

/** Returns whether an operator let the scanner remove a final block, by ending the breach that names it. */
export async function mayRemoveFinal(
  db: Db,
  chainId: number,
  lowest: { readonly hash: string },
): Promise<boolean> {
  const { rows } = await sql`
    select from breaches where chain_id = ${chainId} and verdict = 'final_block_replaced'
       and ended_at is not null and held_since is null and details #>> '{repair,hash}' = ${lowest.hash}
     limit 1`.execute(db);
  return rows.length > 0;
}
