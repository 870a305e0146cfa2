-- For the charts of the operators' console: completed settlements, and fees earned.
create index concurrently settlements_completed on settlements (updated_at)
  include (created_at, route) where status = 'completed';
create index concurrently ledger_lines_earned on ledger_lines (at)
  include (chain_id, token, amount) where account = 'fees' and owner in ('service', 'gas');
