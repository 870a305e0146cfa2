create index settlements_turns on settlements (chain_id, integrator_id, next_check_at, id)
  where status not in ('completed', 'dead');
create index settlements_dead_turns on settlements (chain_id, integrator_id, next_check_at, id) where status = 'dead';
create index settlements_follow_turns on settlements (chain_id, integrator_id, next_check_at nulls first, id)
  where status = 'completed' and not sweep_final;
create index settlements_waiting_turns on settlements (chain_id, integrator_id, created_at, id)
  where status in ('failed_deploy', 'failed_swap', 'failed_settle', 'deferred');
create index deliveries_turns on deliveries (dest_chain, integrator_id, next_check_at, id)
  where state not in ('claimed', 'returned', 'taken_back');
create index bridge_transfers_turns on bridge_transfers (dest_chain, integrator_id, next_check_at, id)
  where state in ('burned', 'attested', 'delivered');
create index transactions_turns on transactions (chain_id, lane, integrator_id, created_at, id) where state = 'queued';
create index deposits_turns on deposits (chain_id, integrator_id, recheck_at, id)
  where settlement_id is null and orphaned_at is null;
