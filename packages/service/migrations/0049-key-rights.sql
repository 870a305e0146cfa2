-- Rights of API keys, their rotation and their use, and the answers to requests with an idempotency key.
alter table api_keys
  add column label text,
  -- The form of the key: null for a UUID.
  add column prefix text check (prefix in ('sk_live_', 'sk_test_')),
  -- Null: every scope, later ones included.
  add column scopes text[] check (
    cardinality(scopes) > 0 and scopes <@ array['read', 'quote', 'settle', 'webhooks', 'refunds']),
  -- Networks that the key may be used from, in canonical form. Null: every address.
  add column allowed_networks text[] check (cardinality(allowed_networks) between 1 and 50),
  add column expires_at timestamptz(3),
  -- The key whose successor this is.
  add column replaces uuid references api_keys (id),
  -- Written at intervals, not per request.
  add column last_used_at timestamptz(3);
-- A key has one successor, unless that one was revoked.
create unique index api_keys_replaces on api_keys (replaces) where revoked_at is null;

-- Requests per key and day (UTC), counted in the processes and added at intervals: a crash loses the last ones.
create table key_usage (
  key_id uuid not null references api_keys (id),
  day date not null,
  requests bigint not null,
  node_requests bigint not null,
  primary key (key_id, day)
);
create index key_usage_day on key_usage (day);

create table idempotency_keys (
  integrator_id uuid not null references integrators (id),
  key text not null,
  -- Keyed hash of method, path and body: the same key with another request is refused.
  fingerprint bytea not null,
  -- The execution that may store the answer.
  execution uuid not null,
  -- The end of the execution's lease: afterwards the same request may run again.
  leased_until timestamptz(3) not null,
  expires_at timestamptz(3) not null,
  -- Both null until the answer is stored. The answer is encrypted, since it may contain a secret.
  status smallint,
  answer bytea,
  primary key (integrator_id, key),
  constraint idempotency_keys_answered check ((status is null) = (answer is null))
);
create index idempotency_keys_expires_at on idempotency_keys (expires_at);
