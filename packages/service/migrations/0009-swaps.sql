-- What a route kept of a deposit before a pool exchanged the rest, in base units of the deposited token; null where no
-- pool did.
alter table settlements add column swap_fee numeric(78, 0) check (swap_fee >= 0);

-- One more account: `swapped`, of a settlement. The deposited token goes into it and another comes out, so it says what
-- each pool took and gave.
alter table ledger_lines drop constraint ledger_lines_account_check;
alter table ledger_lines add constraint ledger_lines_account_check check (account in ('external', 'wallet', 'transit',
  'in_flight', 'delivered', 'fees', 'inventory', 'bridge', 'swapped', 'treasury', 'refunded', 'lane', 'gas'));

create function post_swap(s settlements) returns void language plpgsql as $$
declare
  dest_token text := (select a.dest_token from addresses a where a.id = s.address_id);
begin
  if s.status = 'completed' then
    -- Of migration 0010, which no settlement completes before.
    perform post_fees(s, s.swap_fee);
    perform post_move('payout', s.id::text, s.chain_id, s.token, null,
      'in_flight', s.id::text, 'swapped', s.id::text, s.swept_amount - s.swap_fee);
    perform post_move('payout', s.id::text, s.chain_id, dest_token, null,
      'swapped', s.id::text, 'delivered', s.id::text, s.delivered_amount);
  end if;
end $$;

create or replace function follow_settlement() returns trigger language plpgsql as $$
begin
  if (old.swept_amount, old.swept_block) is distinct from (new.swept_amount, new.swept_block) then
    perform post_sweep(old, -1);
    perform post_sweep(new, 1);
  end if;
  if old.status <> new.status then
    if new.swap_fee is null then perform post_own_payout(new); else perform post_swap(new); end if;
  end if;
  return null;
end $$;
