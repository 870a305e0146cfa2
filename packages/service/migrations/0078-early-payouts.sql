-- Payouts before the finality of their lock: what the operator's inventory risks meanwhile.
create table early_payouts (
  delivery_id text primary key references deliveries (id),
  src_chain integer not null,
  -- Value of the payout in US dollars times 1e18, as it was counted before its signature was requested.
  worth numeric(78, 0) not null check (worth > 0),
  -- End of the payout window that was requested last, in Unix seconds.
  usable_until bigint not null,
  counted_at timestamptz(3) not null default clock_timestamp(),
  -- Since when it is paid, and blocks that are later than its lock are final without it.
  missing_at timestamptz(3)
);
create index early_payouts_chain on early_payouts (src_chain);

-- Chains whose payouts wait for finality again, and who opened them: a lock that was paid was missing, or an operator said so.
create table early_closures (
  id bigint generated always as identity primary key,
  src_chain integer not null,
  reason text not null,
  -- Null where the service closed them itself.
  closed_by text,
  closed_at timestamptz(3) not null default clock_timestamp(),
  opened_by text,
  open_reason text,
  opened_at timestamptz(3),
  check ((opened_at is null) = (opened_by is null) and (opened_at is null) = (open_reason is null))
);
create unique index early_closures_open on early_closures (src_chain) where opened_at is null;

-- Payouts whose lock never became final, as an operator accepted them. A lock that comes back all the same ends the loss.
create table early_losses (
  delivery_id text primary key references deliveries (id),
  worth numeric(78, 0) not null,
  operator text not null,
  reason text not null,
  accepted_at timestamptz(3) not null default clock_timestamp(),
  recovered_at timestamptz(3)
);

create trigger early_closures_kept before delete on early_closures
  for each row execute function refuse_action_change();
create trigger early_losses_kept before delete on early_losses
  for each row execute function refuse_action_change();
create trigger early_closures_not_emptied before truncate on early_closures
  for each statement execute function refuse_action_change();
create trigger early_losses_not_emptied before truncate on early_losses
  for each statement execute function refuse_action_change();
create trigger early_closures_logged after insert on early_closures
  for each row when (new.closed_by is not null)
  execute function log_operator_row('closed_by', 'close early payouts');
create trigger early_closures_opened_logged after update on early_closures
  for each row when (old.opened_by is null and new.opened_by is not null)
  execute function log_operator_row('opened_by', 'open early payouts');
create trigger early_losses_logged after insert on early_losses
  for each row execute function log_operator_row('operator', 'accept early loss');

alter table ledger_lines drop constraint ledger_lines_account_check;
alter table ledger_lines add constraint ledger_lines_account_check check (account in ('external', 'wallet', 'transit',
  'in_flight', 'delivered', 'lost', 'fees', 'inventory', 'bridge', 'swapped', 'treasury', 'refunded', 'lane', 'gas')) not valid;
-- A payout without a lock delivers no deposit: what inventory paid is lost.
create function post_loss(id text, sign integer) returns void language sql as $$
  select post_move('payout', d.id, d.dest_chain, d.dest_token, null,
    'delivered', d.settlement_id::text, 'lost', '', sign * d.delivered_amount)
    from deliveries d where d.id = post_loss.id;
$$;
create function follow_loss() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    perform post_loss(new.delivery_id, 1);
  elsif old.recovered_at is null and new.recovered_at is not null then
    perform post_loss(new.delivery_id, -1);
  end if;
  return null;
end $$;
create trigger early_losses_posted after insert or update on early_losses for each row execute function follow_loss();

-- A lock that a reorg replaced by another of the same settlement. It is paid, or nothing was signed for it: a paid one is an
-- early payout whose lock is missing, unless a later reorg brings the lock back.
alter table deliveries add column superseded boolean not null default false;
