-- Pay links: read-only access to one deposit address for the person who pays it, until a time. Of a token only a keyed hash
-- is stored.
create table pay_links (
  id uuid primary key,
  integrator_id uuid not null references integrators (id),
  address_id uuid not null references addresses (id),
  token_hmac bytea not null unique,
  -- Shown above the address.
  title text check (char_length(title) between 1 and 100),
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3)
);
create index pay_links_list on pay_links (integrator_id, created_at, id);
create index pay_links_expires_at on pay_links (expires_at);

-- The scope of keys that create pay links.
alter table api_keys drop constraint api_keys_scopes_check;
alter table api_keys add constraint api_keys_scopes_check check (
  cardinality(scopes) > 0
  and scopes <@ array['read', 'quote', 'settle', 'webhooks', 'refunds', 'pay']);
