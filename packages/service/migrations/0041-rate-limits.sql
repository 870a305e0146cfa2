-- Rate limits of several processes that count together. A crash of the server may empty it: the counts are of one minute.
create unlogged table rate_limits (
  name text not null,
  -- A key's id, or an address.
  subject text not null,
  count integer not null,
  until timestamptz(3) not null,
  primary key (name, subject)
);
create index rate_limits_until on rate_limits (until);
