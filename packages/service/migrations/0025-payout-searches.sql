-- The search for the transaction of a payout that its contract reports and no known transaction shows, as after the
-- restore of a backup. It goes from both ends of the time in which the payout can be, and continues after a restart.
create table payout_searches (
  delivery_id text primary key references deliveries (id),
  -- Blocks of the destination that are not searched yet.
  first_left bigint not null check (first_left >= 0),
  last_left bigint not null,
  -- Blocks of the next part.
  part_blocks bigint not null check (part_blocks > 0),
  -- Searches that ended without a result; each is repeated over a longer time.
  rounds integer not null default 0,
  created_at timestamptz(3) not null default clock_timestamp()
);
