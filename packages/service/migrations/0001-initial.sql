-- Amounts are numeric(78,0) in base units: wide enough for every uint256. Addresses and hashes are lower-case hex.
-- Stamps that the interface pages by (addresses.created_at, settlements.created_at, events.created_at) are whole
-- milliseconds, unique and strictly increasing per integrator in commit order; see next_stamp.

create table integrators (
  id uuid primary key,
  name text not null unique,
  refund_evm text not null,
  max_fee_bps integer not null check (max_fee_bps between 0 and 10000),
  max_slippage_bps integer not null check (max_slippage_bps between 0 and 10000),
  created_at timestamptz(3) not null default now()
);

create table api_keys (
  id uuid primary key,
  integrator_id uuid not null references integrators (id),
  -- HMAC-SHA-256 of the key under the pepper: the key itself is shown once and never stored.
  key_hmac bytea not null unique,
  deposit_addresses boolean not null,
  created_at timestamptz(3) not null default now(),
  revoked_at timestamptz(3)
);

-- Takes the integrator's stamp lock until the end of the transaction, so that commit order is stamp order. Call it in a
-- statement of its own before the insert, as late in the transaction as possible. Several integrators: in id order.
create function lock_stamps(integrator uuid) returns void language sql as $$
  select pg_advisory_xact_lock(7, hashtext(integrator::text));
$$;

-- The next stamp after `newest`: now, or one millisecond after the newest.
create function next_stamp(newest timestamptz) returns timestamptz language sql as $$
  select greatest(date_trunc('milliseconds', clock_timestamp()), newest + interval '1 millisecond');
$$;

create table addresses (
  id uuid primary key,
  integrator_id uuid not null references integrators (id),
  chain_family text not null check (chain_family in ('evm')),
  user_id text not null,
  dest_chain integer not null,
  dest_wallet text not null,
  dest_token text not null,
  refund_authority text not null,
  max_fee_bps integer not null,
  max_slippage_bps integer not null,
  version integer not null,
  wallet_kind integer not null,
  factory text not null,
  commitment text not null unique,
  wallet text not null,
  created_at timestamptz(3) not null,
  unique (integrator_id, chain_family, user_id, dest_chain, dest_wallet, dest_token),
  unique (chain_family, wallet),
  unique (integrator_id, created_at)
);

-- The newest are looked at first where only the balance shows a deposit.
create index addresses_created on addresses (created_at);

-- The scanner's window of blocks; the newest is its cursor.
create table scanner_blocks (
  chain_id integer not null,
  number bigint not null,
  hash text not null,
  parent_hash text not null,
  primary key (chain_id, number)
);

create table settlements (
  id uuid primary key,
  integrator_id uuid not null references integrators (id),
  address_id uuid not null references addresses (id),
  chain_id integer not null,
  wallet text not null,
  token text not null,
  status text not null check (status in (
    'pending_deploy', 'deploying', 'failed_deploy', 'pending_swap', 'swapping', 'failed_swap',
    'pending_settle', 'settling', 'deferred', 'failed_settle', 'completed', 'dead')),
  -- What is done next: a retry never repeats a leg that already moved value.
  step text not null check (step in ('deploy', 'sweep', 'deliver', 'done')),
  version integer not null default 0,
  -- Best-effort snapshot for display, taken when the settlement was queued.
  amount numeric(78, 0),
  route text check (route in ('MONO_CHAIN', 'FAST_MCTP', 'SWIFT')),
  -- Running number of the source transaction: a new one is planned only after the last one is known to have failed.
  deploys_sent integer not null default 0,
  sweeps_sent integer not null default 0,
  -- Balance of the wallet when the sweep was planned; the mined receipt has the truth.
  planned_amount numeric(78, 0),
  swept_amount numeric(78, 0),
  min_out numeric(78, 0),
  delivered_amount numeric(78, 0),
  delivery_id text unique,
  deploy_tx_hash text,
  swap_tx_hash text,
  delivery_tx_hash text,
  swept_block bigint,
  swept_log_index integer,
  -- Whether the block of the sweep is final, so that what is recorded about it stays true.
  sweep_final boolean not null default false,
  error_code text,
  error_message text,
  error_retryable boolean,
  error_details jsonb,
  -- Every re-check of a failing or deferred settlement, as the interface shows it.
  retry_count integer not null default 0,
  -- Those that used up one of the seven attempts.
  attempts_used integer not null default 0,
  -- A deposit that came too late for the sweep was promised a settlement of its own.
  successor_promised boolean not null default false,
  -- When a failing or deferred settlement is tried again.
  retry_at timestamptz(3),
  -- When a worker looks at it; earlier than retry_at where something it waits for has changed.
  next_check_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  unique (integrator_id, created_at),
  check ((error_code is not null) = (status in ('failed_deploy', 'failed_swap', 'failed_settle', 'deferred', 'dead'))),
  check (status <> 'dead' or error_retryable = false)
);

-- Invariant M1: one active settlement per chain, wallet and token.
create unique index settlements_active on settlements (chain_id, wallet, token)
  where status not in ('completed', 'dead');
create index settlements_to_follow on settlements (updated_at) where status = 'completed' and not sweep_final;
create index settlements_due on settlements (next_check_at) where status not in ('completed', 'dead');

create table settlement_transitions (
  settlement_id uuid not null references settlements (id),
  version integer not null,
  from_status text not null,
  to_status text not null,
  error_code text,
  tx_hash text,
  at timestamptz(3) not null default clock_timestamp(),
  primary key (settlement_id, version)
);

-- Invariant M3: a terminal settlement never changes.
create function refuse_terminal_change() returns trigger language plpgsql as $$
begin
  if old.status in ('completed', 'dead')
     and (new.status, new.step, new.swept_amount, new.delivered_amount, new.version)
         is distinct from (old.status, old.step, old.swept_amount, old.delivered_amount, old.version) then
    raise exception 'settlement % is terminal and cannot change', old.id;
  end if;
  return new;
end $$;
create trigger settlements_terminal before update on settlements
  for each row execute function refuse_terminal_change();

create table deposits (
  id uuid primary key,
  chain_id integer not null,
  wallet text not null,
  token text not null,
  -- Null where the balance alone shows the deposit.
  tx_hash text,
  -- Position of the transfer among those of its token in its transaction, or of what was found by balance in its block.
  ordinal integer not null,
  log_index integer not null,
  sender text,
  amount numeric(78, 0) not null check (amount > 0),
  block_number bigint not null,
  block_hash text not null,
  address_id uuid not null references addresses (id),
  integrator_id uuid not null references integrators (id),
  settlement_id uuid references settlements (id),
  queued boolean not null,
  ignored_reason text check (ignored_reason in ('below_token_min', 'below_min', 'no_adapter', 'enqueue_error')),
  detected_at timestamptz(3) not null default clock_timestamp(),
  -- Set while the block that held it is not on the chain.
  orphaned_at timestamptz(3),
  -- When the holding is looked at again, while no settlement has this deposit.
  recheck_at timestamptz(3),
  unique (chain_id, tx_hash, token, ordinal, wallet),
  check ((tx_hash is null) = (sender is null)),
  check (queued = (ignored_reason is null))
);
create unique index deposits_by_balance on deposits (chain_id, block_hash, wallet, token, ordinal) where tx_hash is null;
create index deposits_wallet on deposits (chain_id, wallet, token);
create index deposits_block on deposits (chain_id, block_number);
create index deposits_recheck on deposits (recheck_at) where settlement_id is null and orphaned_at is null;

-- What left deposit addresses by a sweep or a refund, by whomever it was sent, and below zero what the escrow gave back:
-- with the deposits, it explains the balance.
create table outflows (
  chain_id integer not null,
  block_number bigint not null,
  block_hash text not null,
  log_index integer not null,
  wallet text not null,
  token text not null,
  amount numeric(78, 0) not null,
  primary key (chain_id, block_number, block_hash, log_index)
);
create index outflows_wallet on outflows (chain_id, wallet, token);

-- How far the comparison of balances has come in its round over all wallets.
create table balance_rounds (
  chain_id integer primary key,
  last_wallet text not null
);

create table lanes (
  chain_id integer not null,
  address text not null,
  purpose text not null,
  next_nonce integer not null,
  primary key (chain_id, address)
);

create table transactions (
  id uuid primary key,
  chain_id integer not null,
  lane text not null,
  -- One effect, one intent, one nonce for ever.
  intent text not null unique,
  settlement_id uuid references settlements (id),
  to_address text not null,
  data text not null,
  value numeric(78, 0) not null,
  gas bigint not null,
  nonce integer,
  state text not null check (state in ('queued', 'assigned', 'mined', 'final')),
  succeeded boolean,
  mined_hash text,
  mined_block_hash text,
  mined_block_number bigint,
  created_at timestamptz(3) not null default clock_timestamp(),
  unique (chain_id, lane, nonce),
  check ((state = 'queued') = (nonce is null)),
  check ((state in ('mined', 'final')) = (mined_hash is not null))
);
create index transactions_open on transactions (chain_id, lane, state) where state <> 'final';

create table attempts (
  hash text primary key,
  transaction_id uuid not null references transactions (id),
  number integer not null,
  raw text not null,
  max_fee_per_gas numeric(78, 0) not null,
  max_priority_fee_per_gas numeric(78, 0) not null,
  created_at timestamptz(3) not null,
  sent_at timestamptz(3),
  accepted boolean not null default false,
  unique (transaction_id, number)
);

-- The second leg of a settlement from inventory.
create table deliveries (
  id text primary key,
  settlement_id uuid not null references settlements (id),
  state text not null check (state in ('locked', 'delivered', 'claiming', 'claimed', 'returning', 'returned', 'taken_back')),
  version integer not null default 0,
  src_chain integer not null,
  escrow text not null,
  wallet text not null,
  token text not null,
  seq bigint not null,
  locked_amount numeric(78, 0) not null,
  min_out numeric(78, 0) not null,
  dest_chain integer not null,
  dest_token text not null,
  dest_wallet text not null,
  pay_amount numeric(78, 0) not null,
  -- Running number of orders for this delivery; a new one only after the last one can no longer be paid.
  orders integer not null default 0,
  claims integer not null default 0,
  returns integer not null default 0,
  delivered_tx_hash text,
  delivered_amount numeric(78, 0),
  claimed_tx_hash text,
  -- Why the last look could not go on; null while all goes well.
  trouble jsonb,
  next_check_at timestamptz(3),
  created_at timestamptz(3) not null default clock_timestamp(),
  unique (src_chain, escrow, wallet, token, seq)
);
create index deliveries_due on deliveries (next_check_at) where state not in ('claimed', 'returned', 'taken_back');
-- A settlement has a second delivery only once the first was given back.
create unique index deliveries_settlement on deliveries (settlement_id) where state not in ('returned', 'taken_back');

-- Inventory set aside before a lock; released when the delivery is on chain or the sweep is known to have failed.
create table inventory_reservations (
  settlement_id uuid primary key references settlements (id),
  dest_chain integer not null,
  token text not null,
  amount numeric(78, 0) not null check (amount > 0),
  created_at timestamptz(3) not null default clock_timestamp()
);
create index inventory_reservations_token on inventory_reservations (dest_chain, token);

-- What the settler asks of the attestor, and its answer. The attestor trusts nothing here: it reads the chains itself.
create table attestations (
  id text primary key,
  kind text not null check (kind in ('delivery', 'claim', 'return', 'price')),
  -- For a price, the commitment of the wallet.
  delivery_id text not null,
  request jsonb not null,
  -- The attestor's own price, where one was asked for: whole units out per whole unit in, times 1e18.
  rate numeric(78, 0),
  deadline bigint not null,
  signature text,
  refusal text,
  signer text,
  created_at timestamptz(3) not null default clock_timestamp(),
  -- A request that cannot be answered yet makes room for the others.
  next_check_at timestamptz(3) not null,
  answered_at timestamptz(3),
  check (signature is null or refusal is null)
);
create index attestations_open on attestations (next_check_at) where signature is null and refusal is null;

create table events (
  integrator_id uuid not null references integrators (id),
  created_at timestamptz(3) not null,
  id uuid not null,
  type text not null check (type in ('deposit_detected', 'status_changed')),
  data jsonb not null,
  primary key (integrator_id, created_at)
);

-- Appends under the stamp lock. The lock is a statement of its own, so the insert sees what the last holder committed.
create function append_event(event_id uuid, integrator uuid, event_type text, event_data jsonb)
returns timestamptz language plpgsql as $$
declare
  stamp timestamptz;
begin
  perform lock_stamps(integrator);
  insert into events (integrator_id, created_at, id, type, data)
  values (integrator,
          next_stamp((select e.created_at from events e where e.integrator_id = integrator
                      order by e.created_at desc limit 1)),
          event_id, event_type, event_data)
  returning created_at into stamp;
  return stamp;
end $$;
