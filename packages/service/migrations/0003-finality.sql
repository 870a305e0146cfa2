-- How far a chain was final when the scanner looked: what was scanned up to there must never leave the chain.
create table scanner_finality (
  chain_id integer primary key,
  number bigint not null
);
