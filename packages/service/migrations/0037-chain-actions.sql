-- Chains that an operator drains or has retired, with who, when and why. The newest action of a chain holds; a retired
-- chain does not come back.
create table chain_actions (
  id bigint generated always as identity primary key,
  chain_id integer not null,
  action text not null check (action in ('drain', 'resume', 'retire')),
  operator text not null check (operator <> ''),
  reason text not null check (reason <> ''),
  at timestamptz(3) not null default clock_timestamp()
);
create index chain_actions_newest on chain_actions (chain_id, id);
create trigger chain_actions_kept before update or delete on chain_actions
  for each row execute function refuse_action_change();
create trigger chain_actions_not_emptied before truncate on chain_actions
  for each statement execute function refuse_action_change();
