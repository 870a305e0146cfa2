-- Refunds whose signatures may still be used.
create index concurrently address_refunds_deadline on address_refunds (chain_id, deadline) where deadline is not null;
