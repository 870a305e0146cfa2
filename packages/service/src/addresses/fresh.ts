/**
 * Fresh wallets: those quoted or paid on a chain recently, which are likely to be paid next. Their native balances are
 * compared in every poll, those of all others once an hour.
 */
import { sql } from "kysely";
import type { ChainKind } from "../core/chain-registry.ts";
import type { Db, Tx } from "../db/schema.ts";
import type { DepositAddress } from "./types.ts";

/** How long an event keeps a wallet fresh. */
const FRESH_FOR = { quoted: "1 day", paid: "30 days" } as const;

/** Families whose balances are compared. On Solana blocks show every payment. */
const HAS_BALANCES: Readonly<Record<ChainKind, boolean>> = { evm: true, svm: false };

/** Keeps a wallet fresh like `keepAllFresh`. */
export function keepFresh(
  db: Db | Tx,
  chainId: number,
  wallet: KeptWallet,
  event: keyof typeof FRESH_FOR,
): Promise<void> {
  return keepAllFresh(db, chainId, [wallet], event);
}

type KeptWallet = Pick<DepositAddress, "family" | "integratorId" | "wallet">;

/**
 * Keeps wallets fresh on a chain after an event there. Writes at most once an hour per wallet and kind of event. Does nothing
 * where balances are not compared.
 */
export async function keepAllFresh(
  db: Db | Tx,
  chainId: number,
  wallets: readonly KeptWallet[],
  event: keyof typeof FRESH_FOR,
): Promise<void> {
  const compared = wallets
    .filter(({ family }) => HAS_BALANCES[family])
    // In one order, so that two transactions never wait for each other.
    .toSorted((one, other) => (one.wallet < other.wallet ? -1 : 1));
  if (compared.length === 0) return;
  await sql`insert into fresh_wallets (chain_id, integrator_id, wallet, fresh_until)
    select ${chainId}, integrator_id, wallet, clock_timestamp() + ${FRESH_FOR[event]}::interval
    from unnest(
      ${compared.map(({ integratorId }) => integratorId)}::uuid[],
      ${compared.map(({ wallet }) => wallet)}::text[]
    ) as kept (integrator_id, wallet)
    on conflict (chain_id, integrator_id, wallet) do update set fresh_until = excluded.fresh_until
      where fresh_wallets.fresh_until < excluded.fresh_until - interval '1 hour'`.execute(db);
}

/** Ends the freshness of wallets whose time is over. */
export async function expireFresh(db: Db, chainId: number): Promise<void> {
  await db
    .deleteFrom("fresh_wallets")
    .where("chain_id", "=", chainId)
    .where("fresh_until", "<", sql<string>`now()`)
    .execute();
}
