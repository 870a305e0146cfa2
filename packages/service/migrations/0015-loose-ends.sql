-- A sweep that was abandoned can no longer be mined, so it is no value in flight: its settlement may die.
create or replace function refuse_dead_in_flight() returns trigger language plpgsql as $$
begin
  if new.status <> 'dead' or old.status = 'dead' then
    return new;
  end if;
  if exists (select from transactions t where t.settlement_id = new.id
               and t.intent like 'sweep:%' and t.state not in ('final', 'abandoned'))
     or exists (select from deliveries d where d.settlement_id = new.id
                  and d.state not in ('returned', 'taken_back'))
     or (old.step = 'deliver' and not exists (
           select from deliveries d where d.settlement_id = new.id and d.state = 'taken_back')) then
    raise exception 'settlement % has value in flight and cannot be dead', new.id;
  end if;
  return new;
end $$;

-- A lock that was given back ends with its sweep forgotten. A settlement that is completed keeps its sweep (its delivery left
-- the chain too late to be made again): what the sweep brought in flight goes back the way that it came all the same.
create function forget_completed_sweep() returns trigger language plpgsql as $$
begin
  perform post_sweep(s, -1) from settlements s where s.id = new.settlement_id and s.status = 'completed';
  return null;
end $$;
create trigger deliveries_given_back after update on deliveries for each row
  when (old.state <> new.state and new.state = 'returned')
  execute function forget_completed_sweep();
