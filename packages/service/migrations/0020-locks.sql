-- The delivery id is the hash of the whole lock, so the row holds all of it.
alter table deliveries
  add column locked_at bigint not null,
  add column delivery text not null;

-- The escrow counts its locks by the contract that pays them.
alter table deliveries drop constraint deliveries_src_chain_escrow_wallet_token_seq_key;
create unique index deliveries_lock on deliveries (src_chain, escrow, wallet, token, seq, delivery);
