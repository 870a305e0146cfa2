-- An operator looks for a deposit by its amount.
create index concurrently deposits_list_amount on deposits (amount, integrator_id);
