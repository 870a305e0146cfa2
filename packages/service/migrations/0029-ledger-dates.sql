-- A height that the chain had reached when the end of a lock was read: the end is in a block at or below it.
alter table deliveries add column ended_height bigint;

-- A sweep whose lock was returned stays on the chain, and so do its lines. The reversal belongs to the return, which the
-- scanner records by its own block: dated at the sweep, the ledger would be wrong at each height between the two.
create function post_returned_sweep(s settlements) returns void language sql as $$
  select post_move('sweep', s.id::text, s.chain_id, s.token,
    coalesce((select d.ended_height from deliveries d where d.id = s.delivery_id and d.state = 'returned'), s.swept_block),
    'transit', s.wallet, 'in_flight', s.id::text, -s.swept_amount)
   where s.swept_amount is not null;
$$;
create or replace function follow_settlement() returns trigger language plpgsql as $$
begin
  if (old.swept_amount, old.swept_block) is distinct from (new.swept_amount, new.swept_block) then
    if new.swept_amount is null then
      perform post_returned_sweep(old);
    else
      perform post_sweep(old, -1);
    end if;
    perform post_sweep(new, 1);
  end if;
  if (old.status = 'completed', old.swept_amount, old.delivered_amount, old.swap_fee)
     is distinct from (new.status = 'completed', new.swept_amount, new.delivered_amount, new.swap_fee) then
    perform post_own_payout(old, -1);
    perform post_own_payout(new, 1);
  end if;
  return null;
end $$;
create or replace function forget_completed_sweep() returns trigger language plpgsql as $$
begin
  perform post_returned_sweep(s) from settlements s where s.id = new.settlement_id and s.status = 'completed';
  return null;
end $$;
