-- A reorganisation can take a deposit and its lock away after an early payout. If the same amount is deposited again, the next
-- settlement's lock can be the same: its number is free again, and everything else is equal. The payout and its lock are then that
-- settlement's. The first one took nothing in the end, and nothing was delivered for it.
create function follow_takeover() returns trigger language plpgsql as $$
begin
  update settlements set delivery_id = null, delivered_amount = 0 * delivered_amount
   where id = old.settlement_id and delivery_id = new.id;
  -- A loss that was accepted has left the account already, and is taken back to that of the new settlement.
  if not exists (select from early_losses l where l.delivery_id = new.id and l.recovered_at is null) then
    perform post_move('payout', new.id, new.dest_chain, new.dest_token, null,
      'delivered', old.settlement_id::text, 'delivered', new.settlement_id::text, paid_of(old));
  end if;
  return null;
end $$;
create trigger deliveries_taken_over after update of settlement_id on deliveries for each row
  when (old.settlement_id <> new.settlement_id) execute function follow_takeover();

create or replace function refuse_terminal_change() returns trigger language plpgsql as $$
declare
  is_noted boolean := old.status = 'completed' and not old.sweep_final and new.sweep_final;
  is_redelivered boolean := old.status = 'completed' and new.delivery_tx_hash <> old.delivery_tx_hash
    and new.delivered_amount > 0 and new.swept_amount = old.swept_amount;
  is_given_up boolean := old.delivery_id is not null and new.delivery_id is null and coalesce(new.delivered_amount, 0) = 0
    and new.swept_amount = old.swept_amount;
begin
  if old.status in ('completed', 'dead')
     and ((new.status, new.step, new.version) is distinct from (old.status, old.step, old.version)
          or not is_noted and not is_redelivered and not is_given_up
             and (new.swept_amount, new.delivered_amount) is distinct from (old.swept_amount, old.delivered_amount)) then
    raise exception 'settlement % is terminal and cannot change', old.id;
  end if;
  return new;
end $$;
