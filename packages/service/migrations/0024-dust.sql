-- A stranger can pay a little to thousands of deposit addresses in one block, so the work for each must stay small.

-- Deposits are compared with every settlement of their holding, ended ones too.
create index settlements_holding on settlements (chain_id, wallet, token, taken_block, taken_log_index);

-- The postings of new deposits, one each as before, in one statement for all of them.
create function follow_new_deposits() returns trigger language plpgsql as $$
begin
  insert into ledger_lines (posting, reason, ref, account, owner, chain_id, token, amount, block_number)
  with posted as materialized (
    select nextval('ledger_postings') as posting, id, chain_id, token, wallet, amount, block_number
      from new_deposits where orphaned_at is null
  )
  select posting, 'deposit', id::text, line.account, line.owner, chain_id, token, line.amount, block_number
    from posted, lateral (values ('external', '', -posted.amount), ('wallet', posted.wallet, posted.amount))
      as line (account, owner, amount);
  return null;
end $$;
drop trigger deposits_posted_new on deposits;
create trigger deposits_posted_new after insert on deposits
  referencing new table as new_deposits for each statement execute function follow_new_deposits();
