-- An index for each further filter of a list, in the order of its pages.
create index concurrently addresses_list_user on addresses (integrator_id, user_id, created_at);
create index concurrently addresses_list_wallet on addresses (integrator_id, wallet, created_at);
create index concurrently addresses_list_chain on addresses (integrator_id, dest_chain, created_at);
create index concurrently addresses_list_token on addresses (integrator_id, dest_token, created_at);
create index concurrently address_refunds_list_user on address_refunds (integrator_id, user_id, at desc, id desc);
create index concurrently address_refunds_list_wallet on address_refunds (integrator_id, wallet, at desc, id desc);
create index concurrently address_refunds_list_chain on address_refunds (integrator_id, chain_id, at desc, id desc);
create index concurrently address_refunds_list_token on address_refunds (integrator_id, token, at desc, id desc);
create index concurrently refund_states_list on refund_states (integrator_id, coalesce(state, 'requested'), at desc, refund_id desc);
