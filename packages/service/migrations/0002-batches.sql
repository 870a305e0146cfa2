-- A batch is one transaction that carries the calls of several: it has the nonce, and they have its outcome.
alter table transactions add column carrier_id uuid references transactions (id);

-- Every old rule of the table is there again, with `carried` beside `queued`.
alter table transactions drop constraint transactions_state_check;
alter table transactions drop constraint transactions_check;
alter table transactions
  add check (state in ('queued', 'carried', 'assigned', 'mined', 'final')),
  add check ((state = 'queued') = (nonce is null and carrier_id is null)),
  add check (carrier_id is null or nonce is null),
  add check (state <> 'carried' or carrier_id is not null),
  add check (state <> 'assigned' or nonce is not null);
create index transactions_carried on transactions (carrier_id) where carrier_id is not null;
