-- A payout whose lock never became final is no value in flight once an operator accepted its loss: where the deposit left the chain
-- too, nothing can be swept again, and the settlement may die.
create or replace function refuse_dead_in_flight() returns trigger language plpgsql as $$
begin
  if new.status <> 'dead' or old.status = 'dead' then
    return new;
  end if;
  if exists (select from transactions t where t.settlement_id = new.id
               and t.intent like 'sweep:%' and t.state not in ('final', 'abandoned'))
     or exists (select from deliveries d where d.settlement_id = new.id
                  and d.state not in ('returned', 'taken_back')
                  and not exists (select from early_losses l
                                   where l.delivery_id = d.id and l.recovered_at is null))
     or (old.step = 'deliver' and not exists (
           select from deliveries d where d.settlement_id = new.id and d.state = 'taken_back')) then
    raise exception 'settlement % has value in flight and cannot be dead', new.id;
  end if;
  return new;
end $$;
