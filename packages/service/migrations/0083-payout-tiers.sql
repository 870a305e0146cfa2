-- How deep the lock was when its payout was requested last: a number of blocks, 'safe' or 'finalized'; and what keeps a lock that
-- is deep enough from being paid before it is final.
alter table deliveries
  add column paid_at_depth text check (paid_at_depth in ('safe', 'finalized') or paid_at_depth ~ '^[0-9]{1,3}$'),
  add column waits_for text check (waits_for in ('exposure', 'opening'));
