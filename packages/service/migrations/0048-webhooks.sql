-- Webhooks: endpoints of integrators, their secrets, deliveries of events, and the attempts of each.
--
-- The outbox is the event log itself, which is written in the transaction of its event. The cursor of an integrator is the
-- stamp up to which deliveries were inserted; it moves in the transaction that inserts them. Stamps increase in commit
-- order, so no event is skipped.
create table webhook_cursors (
  integrator_id uuid primary key references integrators (id),
  cursor timestamptz(3) not null
);

create table webhook_endpoints (
  id uuid primary key,
  integrator_id uuid not null references webhook_cursors (integrator_id),
  url text not null,
  description text,
  -- Types of events that are delivered; null for all.
  types text[],
  -- Whether events carry their details, and types beyond those of the published interface are delivered.
  extended boolean not null,
  -- Whether the events of a wallet and token are delivered one after the other.
  ordered boolean not null,
  state text not null check (state in ('enabled', 'disabled')),
  disabled_reason text check (disabled_reason in ('requested', 'gone', 'failing')),
  disabled_at timestamptz(3),
  -- Later events are delivered, earlier ones only on request.
  since timestamptz(3) not null,
  -- The first failure after the last success, and the first one that followed it by 12 hours or more.
  failing_since timestamptz(3),
  still_failing_at timestamptz(3),
  -- The endpoint asked for a pause (`Retry-After`).
  not_before timestamptz(3),
  created_at timestamptz(3) not null,
  check ((state = 'disabled') = (disabled_at is not null)),
  check ((state = 'disabled') = (disabled_reason is not null))
);
create index webhook_endpoints_list on webhook_endpoints (integrator_id, created_at, id);

create table webhook_secrets (
  id uuid primary key,
  endpoint_id uuid not null references webhook_endpoints (id) on delete cascade,
  scheme text not null check (scheme in ('v1a', 'v1')),
  -- Encrypted with a key derived from the pepper of API keys.
  sealed bytea not null,
  -- Of v1a; `v1` has none.
  public_key text,
  created_at timestamptz(3) not null,
  -- Null for the newest one.
  expires_at timestamptz(3),
  check ((scheme = 'v1a') = (public_key is not null))
);
create index webhook_secrets_endpoint on webhook_secrets (endpoint_id);

create table webhook_deliveries (
  -- Those of a deleted endpoint are deleted later, in parts.
  endpoint_id uuid not null,
  -- The event's id; of a test an id of its own.
  event_id uuid not null,
  integrator_id uuid not null,
  is_test boolean not null default false,
  type text not null,
  -- The event's stamp, by which its payload is read.
  event_at timestamptz(3) not null,
  -- Chain, wallet and token of the event, where the endpoint is ordered.
  order_key text,
  state text not null check (state in ('pending', 'delivered', 'failed')),
  -- Attempts so far, and those of them since the last request to send it again: the place in the retry schedule.
  attempts integer not null default 0,
  tries integer not null default 0,
  next_check_at timestamptz(3) not null,
  primary key (endpoint_id, event_id)
);
create index webhook_deliveries_list on webhook_deliveries (endpoint_id, event_at, event_id);
create index webhook_deliveries_open on webhook_deliveries (endpoint_id, event_at, event_id) where state <> 'delivered';
create index webhook_deliveries_due on webhook_deliveries (endpoint_id, next_check_at, event_at)
  where state = 'pending' and not is_test;
create index webhook_deliveries_tests on webhook_deliveries (next_check_at) where state = 'pending' and is_test;
create index webhook_deliveries_order on webhook_deliveries (endpoint_id, order_key, event_at)
  where state = 'pending' and order_key is not null;

create table webhook_attempts (
  endpoint_id uuid not null,
  event_id uuid not null,
  attempt integer not null,
  at timestamptz(3) not null,
  latency_ms integer not null,
  -- HTTP status of the answer; null without one.
  status integer,
  -- Why the attempt failed; null if it succeeded.
  error text,
  primary key (endpoint_id, event_id, attempt),
  foreign key (endpoint_id, event_id) references webhook_deliveries (endpoint_id, event_id) on delete cascade
);
