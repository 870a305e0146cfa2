-- Of the settlements that a state of the contracts, a lane without gas or an operator holds, by that reason, in the order of
-- their turns.
create index concurrently settlements_held_reason_turns on settlements
  (chain_id, (error_details ->> 'reason'), integrator_id, created_at, id)
  where status in ('failed_deploy', 'failed_swap', 'failed_settle', 'deferred')
    and step in ('deploy', 'sweep') and error_code in ('NO_ROUTE', 'CONFIG_MISSING', 'INSUFFICIENT_BALANCE');
drop index concurrently if exists settlements_held_turns;
