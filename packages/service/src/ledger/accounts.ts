/** Reading accounts of the ledger, and the one kind of line that code writes: an adjustment. */
import { sql } from "kysely";
import { type Address, toAddress } from "../core/hex.ts";
import type { Db, Tx } from "../db/schema.ts";

/** A balance of one owner in one token; base units. */
export interface Balance {
  readonly owner: Address;
  readonly token: Address;
  readonly amount: bigint;
}

/** What accounts of the wallets said after a block; those that were never used are left out. */
export async function listBalances(
  db: Db | Tx,
  args: {
    readonly chainId: number;
    readonly account: "wallet" | "transit";
    readonly wallets: readonly Address[];
    readonly block: bigint;
  },
): Promise<Balance[]> {
  const { rows } = await sql<{ owner: string; token: string; amount: string }>`
    select owner, token, sum(amount)::text as amount from ledger_lines
     where chain_id = ${args.chainId} and account = ${args.account} and owner = any(${args.wallets})
       and block_number <= ${args.block}
     group by owner, token`.execute(db);
  return rows.map(({ owner, token, amount }) => ({
    owner: toAddress(owner),
    token: toAddress(token),
    amount: BigInt(amount),
  }));
}

/** Where a wallet stands on a chain. */
interface HeldAt {
  readonly chainId: number;
  readonly wallet: Address;
  readonly token: Address;
  readonly block: bigint;
  /** Base units on the chain, after the block. */
  readonly held: bigint;
}

/**
 * Posts what a wallet holds beyond what is known to have arrived: a token may raise balances without a transfer. Under a
 * lock, so that two auditors post it once. Returns what was posted.
 */
export async function postSurplus(db: Db, at: HeldAt): Promise<bigint> {
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(11, hashtext(${`${at.chainId}:${at.wallet}`}))`.execute(
      tx,
    );
    const balances = await listBalances(tx, { ...at, account: "wallet", wallets: [at.wallet] });
    const known = balances.find(({ token }) => token === at.token)?.amount ?? 0n;
    const surplus = at.held - known;
    if (surplus <= 0n) return 0n;
    await sql`select post_move('adjustment', ${at.wallet}, ${at.chainId}, ${at.token}, ${at.block}::bigint,
      'external', '', 'wallet', ${at.wallet}, ${surplus}::numeric)`.execute(tx);
    return surplus;
  });
}

/** Postings that do not add up to zero: none, as the database refuses them. */
export async function listUnbalanced(db: Db, chainId: number): Promise<string[]> {
  const { rows } = await sql<{ posting: string }>`
    select posting::text from ledger_lines where chain_id = ${chainId}
     group by posting, token having sum(amount) <> 0 limit 100`.execute(db);
  return rows.map(({ posting }) => posting);
}
