-- The ledger: where every base unit is, in double entry. Lines are written by triggers of the tables whose facts they
-- are, so a fact and its lines commit together whoever writes it, and lines are only ever added: what is no longer so is
-- posted back.
--
-- Accounts, each per chain and token; `owner` tells those of one kind apart:
--   external              what the world has: its balance is minus all that ever arrived
--   wallet      wallet    in a deposit address, by the blocks that were scanned
--   transit     wallet    swept as the scanner saw it, less what settlements recorded: zero once both did
--   in_flight   settlement  swept, and not yet delivered, claimed or taken back
--   delivered, fees       paid to recipients, and kept by a route that pays by itself
--   inventory             paid out of a Delivery contract (below zero: its funding is not ours to see)
--   treasury              claimed for what inventory paid
--   refunded              taken back by refund authorities
--   lane, gas   lane      native coin that lanes burned
create table ledger_lines (
  id bigint generated always as identity primary key,
  -- Lines of one posting add up to zero for each chain and token.
  posting bigint not null,
  reason text not null check (reason in ('deposit', 'outflow', 'sweep', 'payout', 'lock_end', 'gas', 'adjustment')),
  -- Which row it is of: a deposit, a block and log, a settlement, a delivery, a transaction, a breach.
  ref text not null,
  account text not null check (account in ('external', 'wallet', 'transit', 'in_flight', 'delivered', 'fees',
    'inventory', 'treasury', 'refunded', 'lane', 'gas')),
  owner text not null,
  chain_id integer not null,
  token text not null,
  -- Base units, below zero where the account gave.
  amount numeric(78, 0) not null check (amount <> 0),
  -- The block that shows it, where one does.
  block_number bigint,
  at timestamptz(3) not null default clock_timestamp()
);
create sequence ledger_postings;
create index ledger_lines_posting on ledger_lines (posting);
create index ledger_lines_account on ledger_lines (chain_id, account, owner, token);

-- Invariant V3: what one statement adds to a posting adds up to zero, so every posting does, and lines stay.
create function check_postings() returns trigger language plpgsql as $$
begin
  if exists (select from new_lines group by posting, chain_id, token having sum(amount) <> 0) then
    raise exception 'a posting does not add up to zero';
  end if;
  return null;
end $$;
create trigger ledger_lines_balanced after insert on ledger_lines
  referencing new table as new_lines for each statement execute function check_postings();

create function refuse_ledger_change() returns trigger language plpgsql as $$
begin
  raise exception 'lines of the ledger are only added, never changed or removed';
end $$;
create trigger ledger_lines_kept before update or delete on ledger_lines
  for each row execute function refuse_ledger_change();
create trigger ledger_lines_not_emptied before truncate on ledger_lines
  for each statement execute function refuse_ledger_change();

-- One posting of two lines; a negative amount goes the other way, and none is nothing.
create function post_move(reason text, ref text, chain integer, token text, block bigint,
  giver text, giver_owner text, taker text, taker_owner text, amount numeric) returns void language sql as $$
  insert into ledger_lines (posting, reason, ref, account, owner, chain_id, token, amount, block_number)
  select posting, reason, ref, line.account, line.owner, chain, token, line.amount, block
    from nextval('ledger_postings') as posting,
         (values (giver, giver_owner, -amount), (taker, taker_owner, amount)) as line (account, owner, amount)
   where post_move.amount <> 0;
$$;

-- Deposits: what arrived, while the block that holds it is on the chain.
create function post_deposit(d deposits, sign integer) returns void language plpgsql as $$
begin
  if d.orphaned_at is null then
    perform post_move('deposit', d.id::text, d.chain_id, d.token, d.block_number,
      'external', '', 'wallet', d.wallet, sign * d.amount);
  end if;
end $$;
create function follow_deposit() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then perform post_deposit(old, -1); end if;
  perform post_deposit(new, 1);
  return null;
end $$;
create trigger deposits_posted_new after insert on deposits for each row execute function follow_deposit();
create trigger deposits_posted after update on deposits for each row
  when ((old.amount, old.block_number, old.orphaned_at is null)
     is distinct from (new.amount, new.block_number, new.orphaned_at is null))
  execute function follow_deposit();

-- Outflows: what left a wallet in a scanned block, of every token now; a sweep goes on to its settlement, a refund does
-- not, and what the escrow gave back comes the way that it went.
alter table outflows add column kind text not null default 'swept' check (kind in ('swept', 'refunded', 'returned'));
alter table outflows add column tx_hash text not null default '';
update outflows set kind = 'returned' where amount < 0;
alter table outflows alter column kind drop default, alter column tx_hash drop default;
alter table outflows add check ((kind = 'returned') = (amount < 0));
create index outflows_transaction on outflows (tx_hash);

create function post_outflow(o outflows, sign integer) returns void language plpgsql as $$
begin
  perform post_move('outflow', o.block_hash || ':' || o.log_index, o.chain_id, o.token, o.block_number, 'wallet', o.wallet,
    case o.kind when 'refunded' then 'refunded' else 'transit' end, o.wallet, sign * o.amount);
end $$;
create function follow_outflow() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then perform post_outflow(old, -1); else perform post_outflow(new, 1); end if;
  return null;
end $$;
create trigger outflows_posted after insert or delete on outflows for each row execute function follow_outflow();

-- Settlements: what a sweep took, as its receipt says, and where the route pays by itself, what came of it.
create function post_sweep(s settlements, sign integer) returns void language plpgsql as $$
begin
  if s.swept_amount is not null then
    perform post_move('sweep', s.id::text, s.chain_id, s.token, s.swept_block,
      'transit', s.wallet, 'in_flight', s.id::text, sign * s.swept_amount);
  end if;
end $$;
create function post_own_payout(s settlements) returns void language plpgsql as $$
begin
  if s.status = 'completed' and s.route = 'MONO_CHAIN' then
    perform post_move('payout', s.id::text, s.chain_id, s.token, null,
      'in_flight', s.id::text, 'delivered', s.id::text, s.delivered_amount);
    perform post_move('payout', s.id::text, s.chain_id, s.token, null,
      'in_flight', s.id::text, 'fees', '', s.swept_amount - s.delivered_amount);
  end if;
end $$;
create function follow_settlement() returns trigger language plpgsql as $$
begin
  if (old.swept_amount, old.swept_block) is distinct from (new.swept_amount, new.swept_block) then
    perform post_sweep(old, -1);
    perform post_sweep(new, 1);
  end if;
  if old.status <> new.status then perform post_own_payout(new); end if;
  return null;
end $$;
create trigger settlements_posted after update on settlements for each row execute function follow_settlement();

-- Deliveries: what inventory paid, and how the lock ended. A lock that was given back ends with its sweep forgotten.
create function paid_of(d deliveries) returns numeric language sql immutable as $$
  select case when d.state in ('delivered', 'claiming', 'claimed') then coalesce(d.delivered_amount, 0) else 0 end;
$$;
create function follow_delivery() returns trigger language plpgsql as $$
begin
  perform post_move('payout', new.id, new.dest_chain, new.dest_token, null,
    'inventory', '', 'delivered', new.settlement_id::text, paid_of(new) - paid_of(old));
  if old.state <> new.state and new.state in ('claimed', 'taken_back') then
    perform post_move('lock_end', new.id, new.src_chain, new.token, null, 'in_flight', new.settlement_id::text,
      case new.state when 'claimed' then 'treasury' else 'refunded' end,
      case new.state when 'claimed' then '' else new.wallet end, new.locked_amount);
  end if;
  return null;
end $$;
create trigger deliveries_posted after update on deliveries for each row execute function follow_delivery();

-- Gas: what a final transaction of a lane cost, in wei, whatever it did.
alter table transactions add column gas_cost numeric(78, 0);
create function follow_transaction() returns trigger language plpgsql as $$
begin
  perform post_move('gas', new.id::text, new.chain_id, '0x0000000000000000000000000000000000000000',
    new.mined_block_number, 'lane', new.lane, 'gas', new.lane, coalesce(new.gas_cost, 0));
  return null;
end $$;
create trigger transactions_posted after update on transactions for each row
  when (old.state <> 'final' and new.state = 'final' and new.nonce is not null)
  execute function follow_transaction();

-- What was there before the ledger.
select post_deposit(d, 1) from deposits d;
select post_outflow(o, 1) from outflows o;
select post_sweep(s, 1), post_own_payout(s) from settlements s;
select post_move('payout', d.id, d.dest_chain, d.dest_token, null, 'inventory', '', 'delivered', d.settlement_id::text,
  paid_of(d)) from deliveries d;
select post_move('lock_end', d.id, d.src_chain, d.token, null, 'in_flight', d.settlement_id::text,
  case d.state when 'claimed' then 'treasury' else 'refunded' end,
  case d.state when 'claimed' then '' else d.wallet end, d.locked_amount)
  from deliveries d where d.state in ('claimed', 'taken_back');

-- What the auditor found to be otherwise than it must be. While one of a chain is open, its lanes sign and send nothing.
create table breaches (
  id bigint generated always as identity primary key,
  chain_id integer not null,
  invariant text not null,
  subject text not null,
  details jsonb not null,
  found_at timestamptz(3) not null default clock_timestamp(),
  ended_at timestamptz(3),
  -- Who said that it is understood, and why it may go on.
  ended_by text,
  end_reason text,
  check ((ended_at is null) = (ended_by is null) and (ended_at is null) = (end_reason is null))
);
create unique index breaches_open on breaches (chain_id, invariant, subject) where ended_at is null;

-- What the auditor has yet to look for on its destination.
alter table deliveries add column audited boolean not null default false;
create index deliveries_to_audit on deliveries (src_chain) where state = 'claimed' and not audited;
create index settlements_updated on settlements (chain_id, updated_at);

-- How far the auditor has come on a chain.
create table audit_rounds (
  chain_id integer primary key,
  -- The newest final block at which it compared, and when.
  block_number bigint not null,
  at timestamptz(3) not null,
  -- The wallet up to which its round over all has come; empty before the first.
  last_wallet text not null
);
