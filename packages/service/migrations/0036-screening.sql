-- Whether a deposit may be swept, where the operator screens senders: one row for each deposit that a settlement wants to
-- sweep. A deposit without an answer waits.
create table screenings (
  -- The deposit.
  id uuid primary key references deposits (id),
  chain_id integer not null,
  integrator_id uuid not null references integrators (id),
  verdict text not null default 'wait' check (verdict in ('wait', 'allow', 'refuse')),
  source text check (source in ('list', 'service', 'operator')),
  -- The service's own words, or why there is no answer.
  detail text,
  tries integer not null default 0 check (tries >= 0),
  next_check_at timestamptz(3) not null default clock_timestamp(),
  created_at timestamptz(3) not null default clock_timestamp(),
  check (verdict = 'wait' or source is not null)
);
create index screenings_turns on screenings (chain_id, integrator_id, next_check_at, id) where verdict = 'wait';

-- Every answer that decided about a deposit, and every decision of an operator. Kept.
create table screening_records (
  record bigint generated always as identity primary key,
  deposit_id uuid not null references deposits (id),
  verdict text not null check (verdict in ('allow', 'refuse')),
  source text not null check (source in ('list', 'service', 'operator')),
  detail text,
  operator text check (operator <> ''),
  reason text check (reason <> ''),
  at timestamptz(3) not null default clock_timestamp(),
  check ((source = 'operator') = (operator is not null and reason is not null))
);
create index screening_records_deposit on screening_records (deposit_id, record);
create trigger screening_records_kept before update or delete on screening_records
  for each row execute function refuse_action_change();
create trigger screening_records_not_emptied before truncate on screening_records
  for each statement execute function refuse_action_change();
