/** States that a run reached, from its rows, to see that rare ones are. */
import type { SharedDatabase } from "./database.ts";
import { SOLANA } from "./stage.ts";

/** Lists rare states of Solana that a run reached. */
export async function listMetOnSolana(database: SharedDatabase): Promise<readonly string[]> {
  const rows = await database.query<{ what: string }>(
    `select 'settled from ' || s.chain_id || ' to ' || a.dest_chain as what from settlements s
       join addresses a on a.id = s.address_id where s.status = 'completed' and ${SOLANA} in (s.chain_id, a.dest_chain)
     union select 'signed again on Solana' from attempts a
       join transactions t on t.id = a.transaction_id where t.chain_id = ${SOLANA} and a.number > 1
     union select 'mined on Solana after signing again' from attempts a
       join transactions t on t.mined_hash = a.hash where t.chain_id = ${SOLANA} and a.number > 1
     union select 'mined on Solana in vain' from transactions
       where chain_id = ${SOLANA} and not succeeded
     union select 'refused by the signer of Solana' from transactions
       where chain_id = ${SOLANA} and state = 'abandoned'
     union select 'a balance arrived in parts' from deposits d join settlements s on s.id = d.settlement_id
       where d.chain_id = ${SOLANA} and s.status = 'completed' and s.swept_amount < d.amount
     union select 'a deposit on Solana came behind what a sweep counted' from deposits d
       join settlements s on s.chain_id = d.chain_id and s.wallet = d.wallet and s.token = d.token
       where d.chain_id = ${SOLANA} and d.block_number > s.swept_up_to and d.block_number <= s.swept_block
     order by 1`,
  );
  return rows.map(({ what }) => what);
}

/** Lists the limits of contracts that a run reached. */
export async function listMetLimits(database: SharedDatabase): Promise<readonly string[]> {
  const rows = await database.query<{ what: string }>(
    `select distinct 'waited for ' || (data -> 'error' -> 'details' ->> 'reason') as what from events
      where data -> 'error' -> 'details' ->> 'reason' in ('daily_cap', 'burn_limit', 'pool_below_average')
     union select distinct 'a balance arrived in parts by ' || route from settlements
      where status = 'completed' and planned_up_to is not null order by 1`,
  );
  return rows.map(({ what }) => what);
}
