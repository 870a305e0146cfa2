-- A reorg can undo a delivery after its settlement completed, and another is made: a mint with another fee, or the payout of
-- another lock. The record follows it. The amount changes only together with the transaction that delivered it.
create or replace function refuse_terminal_change() returns trigger language plpgsql as $$
declare
  is_noted boolean := old.status = 'completed' and not old.sweep_final and new.sweep_final;
  is_redelivered boolean := old.status = 'completed' and new.delivery_tx_hash <> old.delivery_tx_hash
    and new.delivered_amount > 0 and new.swept_amount = old.swept_amount;
begin
  if old.status in ('completed', 'dead')
     and ((new.status, new.step, new.version) is distinct from (old.status, old.step, old.version)
          or not is_noted and not is_redelivered
             and (new.swept_amount, new.delivered_amount) is distinct from (old.swept_amount, old.delivered_amount)) then
    raise exception 'settlement % is terminal and cannot change', old.id;
  end if;
  return new;
end $$;
