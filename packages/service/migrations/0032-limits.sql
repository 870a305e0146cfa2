-- The number of addresses of an integrator, for its quota: to count them takes too long with millions. A trigger counts, so
-- that processes of the release before count too.
alter table integrators add column addresses_issued bigint not null default 0;
update integrators i set addresses_issued = (select count(*) from addresses a where a.integrator_id = i.id);
create function count_address() returns trigger language plpgsql as $$
begin
  update integrators set addresses_issued = addresses_issued + 1 where id = new.integrator_id;
  return null;
end $$;
create trigger addresses_counted after insert on addresses for each row execute function count_address();

-- What operators have paused, with who, when and why; open while not resumed. A pause names an integrator, a chain, a token
-- or a kind of route on a chain.
create table pauses (
  id uuid primary key,
  scope text not null check (scope in ('integrator', 'chain', 'token', 'route')),
  chain_id integer,
  -- The integrator's id, the token's address or the route's kind; empty for a chain.
  subject text not null,
  reason text not null,
  operator text not null,
  paused_at timestamptz(3) not null default clock_timestamp(),
  resumed_at timestamptz(3),
  resumed_by text,
  check ((scope = 'integrator') = (chain_id is null)),
  check ((scope = 'chain') = (subject = '')),
  check ((resumed_at is null) = (resumed_by is null))
);
create unique index pauses_open on pauses (scope, coalesce(chain_id, 0), subject) where resumed_at is null;
