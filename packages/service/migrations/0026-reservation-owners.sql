-- Reservations are limited per integrator and per address, so each knows both. By a trigger, so that processes of the
-- release before write them too.
alter table inventory_reservations add column integrator_id uuid references integrators (id);
alter table inventory_reservations add column address_id uuid references addresses (id);

create function set_reservation_owner() returns trigger language plpgsql as $$
begin
  select s.integrator_id, s.address_id into new.integrator_id, new.address_id
    from settlements s where s.id = new.settlement_id;
  return new;
end $$;
create trigger inventory_reservations_owner before insert on inventory_reservations
  for each row execute function set_reservation_owner();

update inventory_reservations r set integrator_id = s.integrator_id, address_id = s.address_id
  from settlements s where s.id = r.settlement_id;
