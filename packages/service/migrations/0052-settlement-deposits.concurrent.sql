-- The deposits of a settlement in the order of the chain, so that the first ones of many are read without a sort.
create index concurrently deposits_settlement_order on deposits (settlement_id, block_number, log_index)
  where settlement_id is not null;
drop index concurrently if exists deposits_settlement;
