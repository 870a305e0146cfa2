-- Requests to nodes with a daily budget (requestsPerDay), of all processes together. A process reserves requests before it
-- sends them, so that the count never lags behind. One row for each host of a chain, which holds the newest day only.
create table rpc_budgets (
  chain_id integer not null,
  host     text    not null,
  -- Days since the Unix epoch, in UTC.
  day      integer not null,
  requests bigint  not null check (requests >= 0),
  primary key (chain_id, host)
);
