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

/**
 * Keeps a wallet fresh on a chain after an event there. Writes at most once an hour per wallet and kind of event. Does
 * nothing where balances are not compared.
 */
export async function keepFresh(
  db: Db | Tx,
  chainId: number,
  { family, integratorId, wallet }: Pick<DepositAddress, "family" | "integratorId" | "wallet">,
  event: keyof typeof FRESH_FOR,
): Promise<void> {
  if (!HAS_BALANCES[family]) return;
  await db
    .insertInto("fresh_wallets")
    .values({
      chain_id: chainId,
      integrator_id: integratorId,
      wallet,
      fresh_until: sql<string>`clock_timestamp() + ${FRESH_FOR[event]}::interval`,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["chain_id", "integrator_id", "wallet"])
        .doUpdateSet({ fresh_until: sql<string>`excluded.fresh_until` })
        .where(sql<boolean>`fresh_wallets.fresh_until < excluded.fresh_until - interval '1 hour'`),
    )
    .execute();
}

/** Ends the freshness of wallets whose time is over. */
export async function expireFresh(db: Db, chainId: number): Promise<void> {
  await db
    .deleteFrom("fresh_wallets")
    .where("chain_id", "=", chainId)
    .where("fresh_until", "<", sql<string>`now()`)
    .execute();
}
