-- What a route kept of a deposit before a pool exchanged the rest, in base units of the deposited token; null where no
-- pool did.
alter table settlements add column swap_fee numeric(78, 0) check (swap_fee >= 0);

-- One more account: `swapped`, of a settlement. The deposited token goes into it and another comes out, so it says what
-- each pool took and gave.
alter table ledger_lines drop constraint ledger_lines_account_check;
alter table ledger_lines add constraint ledger_lines_account_check check (account in ('external', 'wallet', 'transit',
  'in_flight', 'delivered', 'fees', 'inventory', 'bridge', 'swapped', 'treasury', 'refunded', 'lane', 'gas'));
