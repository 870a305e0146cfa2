-- What a pool took and made of it what was burned, where another token was deposited than the bridge carries; null where
-- none did. `fee` is of the deposited token.
alter table bridge_transfers add column token_in text;
alter table bridge_transfers add column amount_in numeric(78, 0) check (amount_in > 0);
alter table bridge_transfers add check (num_nulls(token_in, amount_in) in (0, 2));

-- Both tokens then pass through `swapped`, and the one that came out goes on into the bridge.
create or replace function post_bridge_transfer(t bridge_transfers, sign integer) returns void language plpgsql as $$
declare
  deposited text := coalesce(t.token_in, t.token);
  gas numeric := (select least(coalesce(s.fee_flat, 0), t.fee) from settlements s where s.id = t.settlement_id);
begin
  if t.state not in ('delivered', 'final') then
    return;
  end if;
  perform post_move('bridge', t.id::text, t.src_chain, deposited, t.burn_block,
    'in_flight', t.settlement_id::text, 'fees', 'gas', sign * gas);
  perform post_move('bridge', t.id::text, t.src_chain, deposited, t.burn_block,
    'in_flight', t.settlement_id::text, 'fees', 'service', sign * (t.fee - gas));
  if t.token_in is null then
    perform post_move('bridge', t.id::text, t.src_chain, t.token, t.burn_block,
      'in_flight', t.settlement_id::text, 'bridge', '', sign * t.burned_amount);
  else
    perform post_move('bridge', t.id::text, t.src_chain, deposited, t.burn_block,
      'in_flight', t.settlement_id::text, 'swapped', t.settlement_id::text, sign * t.amount_in);
    perform post_move('bridge', t.id::text, t.src_chain, t.token, t.burn_block,
      'swapped', t.settlement_id::text, 'bridge', '', sign * t.burned_amount);
  end if;
  perform post_move('bridge', t.id::text, t.dest_chain, t.dest_token, null,
    'bridge', '', 'delivered', t.settlement_id::text, sign * t.delivered_amount);
  perform post_move('bridge', t.id::text, t.dest_chain, t.dest_token, null,
    'bridge', '', 'fees', 'bridge', sign * t.bridge_fee);
end $$;
drop trigger bridge_transfers_posted on bridge_transfers;
create trigger bridge_transfers_posted after update on bridge_transfers for each row
  when ((old.state in ('delivered', 'final'), old.delivered_amount, old.bridge_fee, old.burned_amount, old.fee, old.amount_in)
     is distinct from
        (new.state in ('delivered', 'final'), new.delivered_amount, new.bridge_fee, new.burned_amount, new.fee, new.amount_in))
  execute function follow_bridge_transfer();
