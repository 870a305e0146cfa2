-- An index for each further filter of a list, in the order of its pages.
create index concurrently deposits_list_user on deposits (integrator_id, user_id, detected_at desc, id desc);
create index concurrently deposits_list_token on deposits (integrator_id, token, detected_at desc, id desc);
create index concurrently deposits_list_queued on deposits (integrator_id, queued, detected_at desc, id desc);
create index concurrently deposits_list_settlement on deposits (integrator_id, settlement_id, detected_at desc, id desc)
  where settlement_id is not null;
create index concurrently settlements_list_token on settlements (integrator_id, token, created_at);
create index concurrently settlements_list_sweep on settlements (integrator_id, swap_tx_hash) where swap_tx_hash is not null;
create index concurrently settlements_list_delivery on settlements (integrator_id, delivery_tx_hash)
  where delivery_tx_hash is not null;
