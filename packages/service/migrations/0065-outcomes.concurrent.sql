-- The outcome of a deposit that no settlement delivered: what took it after it arrived. Refunds are few among the outflows.
create index concurrently outflows_taken on outflows (chain_id, wallet, token, block_number, log_index)
  where kind in ('refunded', 'unattended');
