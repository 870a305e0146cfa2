-- The changes that owner and guardian made to the contracts of each chain, as the watch read them from final blocks. Rows
-- are never changed, except that an operator states that a change was expected and that the watch judges the newest ones.
create table governance_changes (
  id bigint generated always as identity primary key,
  chain_id integer not null,
  block_number bigint not null,
  log_index integer not null,
  tx_hash text not null,
  contract text not null,
  role text not null,
  -- The account; the token of a daily cap; of a threshold, the number as an address.
  subject text not null,
  step text not null check (step in ('scheduled', 'cancelled', 'in_force', 'removed')),
  -- Base units in 24 hours of a daily cap.
  per_day numeric(78, 0),
  -- Unix seconds. From then on it may be executed, for 14 days.
  ready_at bigint,
  at_deployment boolean not null,
  -- The operator who stated that it was expected.
  expected_by text,
  expected_reason text,
  expected_at timestamptz(3),
  -- Whether it stands, and neither the configuration nor an operator expects it.
  unexpected boolean not null default false,
  created_at timestamptz(3) not null default clock_timestamp(),
  unique (chain_id, block_number, log_index)
);
create index governance_changes_unexpected on governance_changes (chain_id) where unexpected;

-- The last final block up to which the changes of a chain are known.
create table governance_watches (
  chain_id integer primary key,
  read_to bigint not null,
  -- When the watch last reached the newest final block; null before.
  complete_at timestamptz(3)
);
