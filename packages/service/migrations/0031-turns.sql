-- Integrators take turns wherever work waits, so each waiting row knows its integrator. The nil id stands for none: batches.
alter table integrators add column queue_weight integer not null default 1 check (queue_weight between 1 and 100);

-- Limits of an integrator; null where the configuration decides.
alter table integrators add column addresses_max bigint check (addresses_max >= 0);
alter table integrators add column open_settlements_max bigint check (open_settlements_max >= 0);

create function queue_weight(tenant uuid) returns integer language sql stable as $$
  select coalesce((select i.queue_weight from integrators i where i.id = tenant), 1)
$$;

alter table transactions add column integrator_id uuid not null default '00000000-0000-0000-0000-000000000000';
alter table deliveries add column integrator_id uuid not null default '00000000-0000-0000-0000-000000000000';
alter table bridge_transfers add column integrator_id uuid not null default '00000000-0000-0000-0000-000000000000';

-- By a trigger, so that processes of the release before write it too.
create function set_integrator() returns trigger language plpgsql as $$
begin
  select s.integrator_id into new.integrator_id from settlements s where s.id = new.settlement_id;
  new.integrator_id := coalesce(new.integrator_id, '00000000-0000-0000-0000-000000000000');
  return new;
end $$;
create trigger transactions_integrator before insert on transactions for each row execute function set_integrator();
create trigger deliveries_integrator before insert on deliveries for each row execute function set_integrator();
create trigger bridge_transfers_integrator before insert on bridge_transfers for each row execute function set_integrator();

-- Only rows that still wait: the others are never chosen again.
update transactions t set integrator_id = s.integrator_id from settlements s
  where s.id = t.settlement_id and t.state in ('queued', 'carried', 'assigned');
update deliveries d set integrator_id = s.integrator_id from settlements s
  where s.id = d.settlement_id and d.state not in ('claimed', 'returned', 'taken_back');
update bridge_transfers b set integrator_id = s.integrator_id from settlements s
  where s.id = b.settlement_id and b.state in ('burned', 'attested', 'delivered');
