-- Events are kept for 30 days and pruned by the week: dropping a partition costs nothing, whatever is in it. What no
-- week has yet is in the default partition, so that an append never fails for want of one.
alter table events rename to events_before;
alter table events_before rename constraint events_pkey to events_before_pkey;
drop index events_wallet;

create table events (
  integrator_id uuid not null references integrators (id),
  created_at timestamptz(3) not null,
  id uuid not null,
  type text not null check (type in ('deposit_detected', 'status_changed')),
  data jsonb not null,
  primary key (integrator_id, created_at)
) partition by range (created_at);
create index events_wallet on events (integrator_id, (data ->> 'walletAddress'), created_at);
create table events_default partition of events default;

insert into events select integrator_id, created_at, id, type, data from events_before;
drop table events_before;
