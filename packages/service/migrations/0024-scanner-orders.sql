-- Orders of operators to the scanner: to skip a block that no node can answer for, and to read blocks again. They are kept.
create table scanner_orders (
  id bigint generated always as identity primary key,
  chain_id integer not null,
  kind text not null check (kind in ('skip', 'reread')),
  from_block bigint not null check (from_block >= 0),
  through_block bigint not null,
  -- The next block to read again; null once all are read, and for a skip.
  next_block bigint,
  -- The account of the operating system that ran the command, and its machine.
  operator text not null check (operator <> ''),
  reason text not null check (reason <> ''),
  at timestamptz(3) not null default clock_timestamp(),
  check (through_block >= from_block),
  check (kind = 'reread' or (next_block is null and from_block = through_block))
);
create index scanner_orders_skipped on scanner_orders (chain_id, from_block) where kind = 'skip';
create index scanner_orders_open on scanner_orders (chain_id, id) where next_block is not null;
create trigger scanner_orders_kept before delete on scanner_orders
  for each row execute function refuse_action_change();
create trigger scanner_orders_not_emptied before truncate on scanner_orders
  for each statement execute function refuse_action_change();
