-- What operators did to a settlement by hand: who, when, what, why, and from which status. Rows are only ever added.
create table operator_actions (
  id bigint generated always as identity primary key,
  settlement_id uuid not null references settlements (id),
  action text not null check (action in ('retry', 'refund')),
  -- The account of the operating system that ran the command, and its machine.
  operator text not null check (operator <> ''),
  reason text not null check (reason <> ''),
  from_status text not null,
  from_step text not null,
  -- The settlement that a retry of a dead one opened.
  successor_id uuid references settlements (id),
  -- Who a refund goes to: the refund authority of the address, and nobody else.
  refund_to text,
  at timestamptz(3) not null default clock_timestamp(),
  check ((action = 'refund') = (refund_to is not null)),
  check (action = 'retry' or successor_id is null)
);
create index operator_actions_settlement on operator_actions (settlement_id, id);

create function refuse_action_change() returns trigger language plpgsql as $$
begin
  raise exception 'what operators did is only added to, never changed or removed';
end $$;
create trigger operator_actions_kept before update or delete on operator_actions
  for each row execute function refuse_action_change();
create trigger operator_actions_not_emptied before truncate on operator_actions
  for each statement execute function refuse_action_change();

create index transactions_settlement on transactions (settlement_id) where settlement_id is not null;

-- Invariant T80: a settlement is dead only with no value in flight. In flight is: a sweep that may still be mined, or
-- unmined again; a lock that may still be delivered or given back; and whatever a sweep took that the refund authority
-- has not taken back.
create function refuse_dead_in_flight() returns trigger language plpgsql as $$
begin
  if new.status <> 'dead' or old.status = 'dead' then
    return new;
  end if;
  if exists (select from transactions t where t.settlement_id = new.id
               and t.intent like 'sweep:%' and t.state <> 'final')
     or exists (select from deliveries d where d.settlement_id = new.id
                  and d.state not in ('returned', 'taken_back'))
     or (old.step = 'deliver' and not exists (
           select from deliveries d where d.settlement_id = new.id and d.state = 'taken_back')) then
    raise exception 'settlement % has value in flight and cannot be dead', new.id;
  end if;
  return new;
end $$;
create trigger settlements_dead_in_flight before update on settlements
  for each row execute function refuse_dead_in_flight();

-- A dead settlement is looked at until the chain shows where its deposits went: next_check_at says when.
create index settlements_dead on settlements (next_check_at) where status = 'dead';
update settlements set next_check_at = now()
  where status = 'dead' and coalesce(error_details ->> 'reason', '') <> 'refunded' and error_code <> 'REORG';
