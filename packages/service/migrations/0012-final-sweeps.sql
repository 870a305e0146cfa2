-- A sweep that left the chain after its settlement completed, and is in another block for good, may have taken and
-- delivered something else there. What it finally did is written down once, when that is known.
create or replace function refuse_terminal_change() returns trigger language plpgsql as $$
declare
  is_noted boolean := old.status = 'completed' and not old.sweep_final and new.sweep_final;
begin
  if old.status in ('completed', 'dead')
     and ((new.status, new.step, new.version) is distinct from (old.status, old.step, old.version)
          or not is_noted
             and (new.swept_amount, new.delivered_amount) is distinct from (old.swept_amount, old.delivered_amount)) then
    raise exception 'settlement % is terminal and cannot change', old.id;
  end if;
  return new;
end $$;

-- What came of a sweep that itself delivers: gas first, the rest of what was kept is the service's. Where a pool exchanged
-- it, both tokens pass through `swapped`. The ledger posts back what it had, and posts what is so now.
drop function post_own_payout(settlements);
create function post_own_payout(s settlements, sign integer) returns void language plpgsql as $$
declare
  dest_token text := (select a.dest_token from addresses a where a.id = s.address_id);
  kept numeric := coalesce(s.swap_fee, s.swept_amount - s.delivered_amount);
  gas numeric := least(coalesce(s.fee_flat, 0), kept);
begin
  if s.status <> 'completed' or s.route <> 'MONO_CHAIN' and s.swap_fee is null then
    return;
  end if;
  perform post_move('payout', s.id::text, s.chain_id, s.token, null,
    'in_flight', s.id::text, 'fees', 'gas', sign * gas);
  perform post_move('payout', s.id::text, s.chain_id, s.token, null,
    'in_flight', s.id::text, 'fees', 'service', sign * (kept - gas));
  if s.swap_fee is null then
    perform post_move('payout', s.id::text, s.chain_id, s.token, null,
      'in_flight', s.id::text, 'delivered', s.id::text, sign * s.delivered_amount);
  else
    perform post_move('payout', s.id::text, s.chain_id, s.token, null,
      'in_flight', s.id::text, 'swapped', s.id::text, sign * (s.swept_amount - s.swap_fee));
    perform post_move('payout', s.id::text, s.chain_id, dest_token, null,
      'swapped', s.id::text, 'delivered', s.id::text, sign * s.delivered_amount);
  end if;
end $$;
create or replace function follow_settlement() returns trigger language plpgsql as $$
begin
  if (old.swept_amount, old.swept_block) is distinct from (new.swept_amount, new.swept_block) then
    perform post_sweep(old, -1);
    perform post_sweep(new, 1);
  end if;
  if (old.status = 'completed', old.swept_amount, old.delivered_amount, old.swap_fee)
     is distinct from (new.status = 'completed', new.swept_amount, new.delivered_amount, new.swap_fee) then
    perform post_own_payout(old, -1);
    perform post_own_payout(new, 1);
  end if;
  return null;
end $$;
