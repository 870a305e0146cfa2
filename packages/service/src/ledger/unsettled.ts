/** Lists every base unit that reached a deposit address and is not settled, with the reason. */
import { sql } from "kysely";
import type { Db } from "../db/schema.ts";
import type { RouteAudit } from "./route-audit.ts";

export interface Unsettled {
  readonly chainId: number;
  readonly token: string;
  readonly wallet: string;
  /** Base units, as a decimal string. */
  readonly amount: string;
  readonly place: "wallet" | "transit" | "in_flight";
  /** Settlement that holds the value, or held it last; null when there was none. */
  readonly settlementId: string | null;
  /** Status with error code, ignored reason of the deposit, or a note that no transfer is known. */
  readonly reason: string;
}

/** Returns unsettled value by chain, wallet and token, the largest amount first. */
export async function listUnsettled(
  db: Db,
  routes: readonly Pick<RouteAudit, "inFlight">[],
): Promise<Unsettled[]> {
  const inFlight = routes.map(({ inFlight: { shown } }, index) => {
    const one = sql.ref(`r${index}`);
    return {
      text: sql`|| coalesce(${sql.lit(`, ${shown.name} `)} || ${one}.state, '')`,
      join: sql`left join lateral (${shown.state}) ${one} on true`,
    };
  });
  const { rows } = await sql<{
    chain_id: number;
    token: string;
    wallet: string;
    amount: string;
    place: Unsettled["place"];
    settlement_id: string | null;
    reason: string;
  }>`
    select h.chain_id, h.token, h.wallet, h.amount::text, h.place, s.id as settlement_id,
           coalesce(
             s.status || coalesce(': ' || s.error_code, '')
               ${sql.join(
                 inFlight.map(({ text }) => text),
                 sql` `,
               )},
             i.ignored_reason, 'arrived without a transfer') as reason
      from (
      select l.chain_id, l.token, l.account as place, l.owner,
             case when l.account = 'in_flight' then f.wallet else l.owner end as wallet,
             case when l.account = 'in_flight' then f.id end as own,
             sum(l.amount) as amount
        from ledger_lines l left join settlements f on l.account = 'in_flight' and f.id::text = l.owner
       where l.account in ('wallet', 'transit', 'in_flight')
       group by 1, 2, 3, 4, 5, 6 having sum(l.amount) <> 0
      ) h
      left join lateral (
        select id, status, error_code from settlements
         where case when h.own is not null then id = h.own
                    else chain_id = h.chain_id and wallet = h.wallet and token = h.token end
         order by status in ('completed', 'dead'), created_at desc limit 1
      ) s on h.own is not null or s.status <> 'completed'
      ${sql.join(
        inFlight.map(({ join }) => join),
        sql` `,
      )}
      left join lateral (
        select ignored_reason, true as found from deposits
         where chain_id = h.chain_id and wallet = h.wallet and token = h.token and orphaned_at is null
         order by block_number desc, log_index desc limit 1
      ) i on true
     -- A refund also takes tokens that are not listed. Such a wallet only lost what the books never had.
     where h.amount > 0 or h.place <> 'wallet' or i.found
     order by h.amount desc, h.chain_id, h.wallet, h.token`.execute(db);
  return rows.map((row) => ({
    chainId: row.chain_id,
    token: row.token,
    wallet: row.wallet,
    amount: row.amount,
    place: row.place,
    settlementId: row.settlement_id,
    reason: row.reason,
  }));
}
