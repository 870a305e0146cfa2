-- The lists of deposits, and of the events of one wallet.
create index deposits_list on deposits (integrator_id, detected_at desc, id desc);
create index events_wallet on events (integrator_id, (data ->> 'walletAddress'), created_at);
