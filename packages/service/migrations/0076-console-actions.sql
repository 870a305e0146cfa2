-- Why a pause was ended. Pauses that were ended before have none.
alter table pauses add column resume_reason text check (resume_reason <> '');

-- What people did by hand to the keys and webhook endpoints of an integrator.
create table integrator_actions (
  id bigint generated always as identity primary key,
  integrator_id uuid not null references integrators (id),
  action text not null check (action <> ''),
  -- The id of the key or of the endpoint.
  subject uuid not null,
  -- What else was chosen, such as a range of time.
  detail text check (detail <> ''),
  operator text not null check (operator <> ''),
  -- Null where a command gave none.
  reason text check (reason <> ''),
  at timestamptz(3) not null default clock_timestamp()
);
create trigger integrator_actions_kept before update or delete on integrator_actions
  for each row execute function refuse_action_change();
create trigger integrator_actions_not_emptied before truncate on integrator_actions
  for each statement execute function refuse_action_change();
create trigger integrator_actions_logged after insert on integrator_actions
  for each row execute function log_operator_row('operator', 'integrator', 'action');

-- The most blocks that the scanner of a chain was behind its node's head in a minute, for charts. Kept for 31 days.
create table scanner_lags (
  chain_id integer not null,
  minute timestamptz(0) not null,
  blocks bigint not null check (blocks >= 0),
  primary key (chain_id, minute)
);
