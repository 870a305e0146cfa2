-- Refunds as integrators request and list them. The integrator is that of the address, set by the database, so that processes
-- of the release before, which do not know the column, insert as before.
alter table address_refunds add column integrator_id uuid references integrators (id);

alter table address_refunds disable trigger address_refunds_kept;
update address_refunds r set integrator_id = a.integrator_id from addresses a where a.id = r.address_id;
alter table address_refunds enable trigger address_refunds_kept;
alter table address_refunds alter column integrator_id set not null;

create function set_refund_integrator() returns trigger language plpgsql as $$
begin
  select integrator_id into new.integrator_id from addresses where id = new.address_id;
  return new;
end $$;
create trigger address_refunds_integrator before insert on address_refunds
  for each row execute function set_refund_integrator();
