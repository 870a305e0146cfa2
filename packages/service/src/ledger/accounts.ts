/**
 * Reads ledger accounts and posts surpluses. Adjustments are the only ledger lines that code writes. The database posts facts
 * that are recorded later back, where an adjustment contains them.
 */
import { sql } from "kysely";
import { type Address, toAddress } from "../core/hex.ts";
import type { Db, Tx } from "../db/schema.ts";
import { lockCursor } from "./scanned.ts";

/** Balance of one owner in one token, in base units. */
export interface Balance {
  readonly owner: Address;
  readonly token: Address;
  readonly amount: bigint;
}

/** Returns the wallets' ledger balances after a block. Accounts without lines are left out. */
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

/** Balance of a wallet on the chain, after a block. */
interface HeldAt {
  readonly chainId: number;
  readonly wallet: Address;
  readonly token: Address;
  readonly block: bigint;
  /** Base units on the chain. */
  readonly held: bigint;
}

/**
 * Posts the surplus of a wallet's chain balance over its ledger balance: a token may raise balances without a transfer.
 * Runs under the cursor's lock, so that two auditors post it once, and none while a deposit of it is being recorded. Returns
 * the posted amount, zero without a surplus.
 */
export async function postSurplus(db: Db, at: HeldAt): Promise<bigint> {
  return db.transaction().execute(async (tx) => {
    await lockCursor(tx, at.chainId, "alone");
    const balances = await listBalances(tx, { ...at, account: "wallet", wallets: [at.wallet] });
    const known = balances.find(({ token }) => token === at.token)?.amount ?? 0n;
    const surplus = at.held - known;
    if (surplus <= 0n) return 0n;
    await sql`select post_move('adjustment', ${at.wallet}, ${at.chainId}, ${at.token}, ${at.block}::bigint,
      'external', '', 'wallet', ${at.wallet}, ${surplus}::numeric)`.execute(tx);
    return surplus;
  });
}

/** Reverses the adjustments at the blocks above a height, which left the chain. Assumes the cursor's lock, held alone. */
export async function reverseAdjustmentsAbove(
  tx: Tx,
  chainId: number,
  height: bigint,
): Promise<void> {
  await sql`select reverse_adjustments(${chainId}::integer, ${height}::bigint)`.execute(tx);
}

/** Returns postings whose lines do not sum to zero. Expected to be empty, since the database rejects them. */
export async function listUnbalanced(db: Db, chainId: number): Promise<string[]> {
  const { rows } = await sql<{ posting: string }>`
    select posting::text from ledger_lines where chain_id = ${chainId}
     group by posting, token having sum(amount) <> 0 limit 100`.execute(db);
  return rows.map(({ posting }) => posting);
}
