/** Counts what a chain still holds or awaits, before it is retired. */
import { sql } from "kysely";
import type { Db } from "../db/schema.ts";

export interface ChainLeft {
  /** Settlements from the chain or toward it that have not ended. */
  readonly settlements: number;
  /** Locks and payouts from the chain or toward it, until they are claimed or back. */
  readonly deliveries: number;
  readonly bridgeTransfers: number;
  /** Transactions of its lanes that are not final. */
  readonly transactions: number;
  /** Base units at deposit addresses, by token, as the ledger has them. */
  readonly balances: readonly { readonly token: string; readonly amount: string }[];
}

/** Returns the work and balances left on a chain. */
export async function readChainLeft(db: Db, chainId: number): Promise<ChainLeft> {
  const { rows } = await sql<Record<"settlements" | "deliveries" | "transfers" | "sent", bigint>>`
    select
      (select count(*) from settlements s join addresses a on a.id = s.address_id
        where s.status not in ('completed', 'dead')
          and (s.chain_id = ${chainId} or a.dest_chain = ${chainId})) as settlements,
      (select count(*) from deliveries
        where state not in ('claimed', 'returned', 'taken_back')
          and (src_chain = ${chainId} or dest_chain = ${chainId})) as deliveries,
      (select count(*) from bridge_transfers
        where state in ('burned', 'attested', 'delivered')
          and (src_chain = ${chainId} or dest_chain = ${chainId})) as transfers,
      (select count(*) from transactions
        where chain_id = ${chainId} and state not in ('final', 'abandoned')) as sent`.execute(db);
  const [counts] = rows;
  if (!counts) throw new RangeError("expected one row of counts");
  const balances = await db
    .selectFrom("ledger_lines")
    .select("token")
    .select((eb) => eb.fn.sum<string>("amount").as("amount"))
    .where("chain_id", "=", chainId)
    .where("account", "=", "wallet")
    .groupBy("token")
    .having((eb) => eb.fn.sum("amount"), "!=", "0")
    .orderBy("token")
    .execute();
  return {
    settlements: Number(counts.settlements),
    deliveries: Number(counts.deliveries),
    bridgeTransfers: Number(counts.transfers),
    transactions: Number(counts.sent),
    balances,
  };
}

/** Returns whether work is open that a retirement would abandon. Balances of deposit addresses are counted apart. */
export function hasOpenWork(left: ChainLeft): boolean {
  const { settlements, deliveries, bridgeTransfers, transactions } = left;
  return settlements + deliveries + bridgeTransfers + transactions > 0;
}
