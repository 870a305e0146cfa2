-- A call that the signer refuses gives its nonce to the calls behind it, and has none any more.
alter table transactions drop constraint transactions_check;
alter table transactions
  add constraint transactions_check check (
    case when nonce is null and carrier_id is null
      then state in ('queued', 'abandoned') else state <> 'queued' end);

-- Members of a batch that the signer refused are sent one by one, so that one of them holds up no other.
alter table transactions add column solo boolean not null default false;
-- An operator gave the call up: a transfer of nothing to the lane itself takes its nonce.
alter table transactions add column cancelled boolean not null default false;
alter table attempts add column cancels boolean not null default false;

-- What operators did to lanes.
create table lane_actions (
  id bigint generated always as identity primary key,
  chain_id integer not null,
  lane text not null,
  nonce integer not null check (nonce >= 0),
  action text not null check (action in ('cancel', 'fill')),
  operator text not null check (operator <> ''),
  reason text not null check (reason <> ''),
  at timestamptz(3) not null default clock_timestamp()
);
create trigger lane_actions_kept before update or delete on lane_actions
  for each row execute function refuse_action_change();
create trigger lane_actions_not_emptied before truncate on lane_actions
  for each statement execute function refuse_action_change();
