-- Of the settlements that wait for inventory and for lower gas costs, in the order of their turns. One index over both was
-- passed over for that of the list by status, which has no order of turns.
create index concurrently settlements_inventory_turns on settlements (chain_id, integrator_id, created_at, id)
  where status in ('failed_deploy', 'failed_swap', 'failed_settle', 'deferred')
    and step = 'sweep' and error_code = 'INSUFFICIENT_BALANCE';
create index concurrently settlements_gas_turns on settlements (chain_id, integrator_id, created_at, id)
  where status in ('failed_deploy', 'failed_swap', 'failed_settle', 'deferred')
    and error_code in ('FEE_NOT_COVERED', 'AMOUNT_TOO_SMALL');
drop index concurrently if exists settlements_waiting_turns;
