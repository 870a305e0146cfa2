-- A settlement has one lock that is neither given back nor replaced by a reorg.
create unique index concurrently deliveries_one_lock on deliveries (settlement_id)
  where state not in ('returned', 'taken_back') and not superseded;
drop index concurrently deliveries_settlement;
-- A lock that a reorg replaced may come back with another amount under its number.
create unique index concurrently deliveries_numbers on deliveries
  (src_chain, escrow, wallet, token, seq, delivery, (case when superseded then id else '' end));
drop index concurrently deliveries_lock;
