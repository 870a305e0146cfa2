-- Facts beside the published payload of an event, for readers that ask for them; null for events from before, and for
-- those of processes of the release before.
alter table events add column details jsonb;

-- Types beyond the published two exist, and only readers that ask for details see them. The code lists them.
alter table events drop constraint events_type_check1;
alter table events add constraint events_type_check check (type ~ '^[a-z]+([._][a-z]+)*$' and length(type) <= 60);

-- With details; the function without them stays for processes of the release before.
create function append_event(event_id uuid, integrator uuid, event_type text, event_data jsonb, event_details jsonb)
returns timestamptz language plpgsql as $$
declare
  stamp timestamptz;
begin
  perform lock_stamps(integrator);
  insert into events (integrator_id, created_at, id, type, data, details)
  values (integrator,
          next_stamp((select e.created_at from events e where e.integrator_id = integrator
                      order by e.created_at desc limit 1)),
          event_id, event_type, event_data, event_details)
  returning created_at into stamp;
  return stamp;
end $$;

-- The integrator's own words about an address. Beside the row of the address, which never changes.
create table address_notes (
  address_id uuid primary key references addresses (id),
  label text check (length(label) between 1 and 200),
  metadata jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
  updated_at timestamptz(3) not null default clock_timestamp()
);
