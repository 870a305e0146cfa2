-- The balances at which the auditor, or an operator who ended a breach, made the books equal to the chain. A deposit or
-- outflow of that block or an earlier one that is recorded later, as after a skipped block or a log that a node left out,
-- was part of that balance: it is booked in its block and posted back at the adjustment, so that it counts once.
create table adjusted_balances (
  chain_id integer not null,
  account text not null,
  owner text not null,
  token text not null,
  block_number bigint not null,
  primary key (chain_id, account, owner, token, block_number)
);
-- For a reorganisation of final blocks.
create index adjusted_balances_block on adjusted_balances (chain_id, block_number);

insert into adjusted_balances
select distinct chain_id, account, owner, token, block_number from ledger_lines
 where reason = 'adjustment' and account in ('wallet', 'transit') and block_number is not null;

-- Invariant: what is recorded later changes no balance at or above the adjustment that knew of it.
create function keep_adjusted_balances() returns trigger language plpgsql as $$
begin
  insert into adjusted_balances (chain_id, account, owner, token, block_number)
  select distinct chain_id, account, owner, token, block_number from new_lines
   where reason = 'adjustment' and account in ('wallet', 'transit') and block_number is not null
  on conflict do nothing;
  perform post_move('adjustment', 'late:' || ref, chain_id, token, adjusted, account, owner, 'external', '', amount)
    from (
      select ref, chain_id, token, account, owner, amount, (
        select min(a.block_number) from adjusted_balances a
         where a.chain_id = l.chain_id and a.account = l.account and a.owner = l.owner and a.token = l.token
           and a.block_number >= l.block_number
      ) as adjusted
        from new_lines l where reason <> 'adjustment' and account in ('wallet', 'transit')
    ) as line where adjusted is not null;
  return null;
end $$;
create trigger ledger_lines_adjusted after insert on ledger_lines
  referencing new table as new_lines for each statement execute function keep_adjusted_balances();

-- A reorganisation took the compared blocks away, and with them the reason of each adjustment.
create function reverse_adjustments(chain integer, above bigint) returns void language plpgsql as $$
begin
  perform post_move('adjustment', 'orphaned', chain, token, block_number, account, owner, 'external', '', posted)
    from (
      select a.token, a.block_number, a.account, a.owner, (
        select sum(amount) from ledger_lines l
         where l.chain_id = chain and l.account = a.account and l.owner = a.owner and l.token = a.token
           and l.block_number = a.block_number and l.reason = 'adjustment'
      ) as posted
        from adjusted_balances a where a.chain_id = chain and a.block_number > above
    ) as adjusted where posted <> 0;
  delete from adjusted_balances where chain_id = chain and block_number > above;
end $$;
