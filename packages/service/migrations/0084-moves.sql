-- Transfers of the treasury contracts that refill the inventory: one row each, kept on record.
create table moves (
  id uuid primary key,
  src_chain integer not null,
  -- The token that leaves the treasury of the source.
  token text not null,
  -- The Delivery contract of the source, or a deposit address that pays the one of the destination.
  to_address text not null,
  dest_chain integer not null,
  dest_token text not null,
  amount numeric(78) not null check (amount > 0),
  -- asked: by an operator, the settler has not planned it. planned: its transaction is queued or not final. moved: final on
  -- the source. arrived: in the inventory. returned: back in the treasury. failed: its transaction moved nothing.
  state text not null check (state in ('asked', 'planned', 'moved', 'arrived', 'returned', 'failed', 'cancelled')),
  -- The operator who asked for it; null for the plan of the service.
  operator text,
  reason text not null,
  -- Why the settler cannot plan it now.
  error_text text,
  cancelled_by text,
  created_at timestamptz(3) not null default now(),
  ended_at timestamptz(3),
  check ((ended_at is not null) = (state in ('arrived', 'returned', 'failed', 'cancelled')))
);
create index moves_open on moves (src_chain, created_at) where ended_at is null;
create trigger moves_asked_logged after insert on moves
  for each row when (new.operator is not null)
  execute function log_operator_row('operator', 'move');
create trigger moves_cancelled_logged after update on moves
  for each row when (old.cancelled_by is null and new.cancelled_by is not null)
  execute function log_operator_row('cancelled_by', 'cancel move');
create index moves_failed on moves (ended_at) where state = 'failed';
create index moves_newest on moves (created_at desc);

-- The token of a treasury's direction; its subject is the account that may receive.
alter table governance_changes add column token text;

-- Integrators of the operator's own moves, which share no inventory with others.
alter table integrators add column own boolean not null default false;
