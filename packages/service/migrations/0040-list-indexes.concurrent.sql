-- An index for each filter of a list, in the order of its pages: no request reads rows of another integrator, or sorts.
create index concurrently settlements_list_wallet on settlements (integrator_id, wallet, created_at);
create index concurrently settlements_list_user on settlements (integrator_id, user_id, created_at);
create index concurrently settlements_list_status on settlements (integrator_id, status, created_at);
create index concurrently settlements_list_chain on settlements (integrator_id, chain_id, created_at);
create index concurrently deposits_list_wallet on deposits (integrator_id, wallet, detected_at desc, id desc);
create index concurrently deposits_list_chain on deposits (integrator_id, chain_id, detected_at desc, id desc);
create index concurrently deposits_list_hash on deposits (integrator_id, tx_hash, detected_at desc, id desc);
-- Of one settlement, and of one delivery or priced wallet.
create index concurrently deposits_settlement on deposits (settlement_id) where settlement_id is not null;
create index concurrently attestations_delivery on attestations (delivery_id, kind, created_at);
