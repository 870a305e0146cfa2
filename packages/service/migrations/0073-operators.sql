-- People who may use the console, how they sign in, and a log of what people did by hand.
create table operators (
  id uuid primary key,
  name text not null unique check (name ~ '^[^[:cntrl:]]{1,60}$' and name = btrim(name)),
  role text not null check (role in ('viewer', 'operator', 'admin')),
  created_at timestamptz(3) not null default clock_timestamp(),
  disabled_at timestamptz(3)
);

-- An invitation signs its operator in once, to register a passkey. Of a token only a keyed hash is stored.
create table operator_invitations (
  token_hmac bytea primary key,
  operator_id uuid not null references operators (id),
  expires_at timestamptz(3) not null,
  used_at timestamptz(3)
);
create index operator_invitations_operator on operator_invitations (operator_id);

create table operator_passkeys (
  credential_id text primary key,
  operator_id uuid not null references operators (id),
  -- COSE, as the authenticator gave it.
  public_key bytea not null,
  -- The authenticator's count of its signatures; 0 if it keeps none.
  counter bigint not null check (counter >= 0),
  created_at timestamptz(3) not null default clock_timestamp(),
  last_used_at timestamptz(3)
);
create index operator_passkeys_operator on operator_passkeys (operator_id);

-- Challenges that a passkey signed, so that no signature is accepted twice.
create table operator_challenges (
  challenge bytea primary key,
  expires_at timestamptz(3) not null
);
create index operator_challenges_expires_at on operator_challenges (expires_at);

create table operator_sessions (
  id uuid primary key,
  token_hmac bytea not null unique,
  operator_id uuid not null references operators (id),
  created_at timestamptz(3) not null default clock_timestamp(),
  expires_at timestamptz(3) not null,
  -- When a passkey last signed for this session; null if it was opened by an invitation.
  verified_at timestamptz(3),
  by_invitation boolean not null,
  ended_at timestamptz(3)
);
create index operator_sessions_open on operator_sessions (operator_id) where ended_at is null;

-- What people did by hand, on the command line and in the console. Each line has the hash of the line before, so that none
-- can be changed or removed without changing all that follow. Triggers write it, whatever wrote the rows.
create table operator_log (
  seq bigint primary key,
  at timestamptz(3) not null,
  operator text not null check (operator <> ''),
  action text not null check (action <> ''),
  -- The row that recorded the action.
  entry jsonb not null,
  previous bytea not null,
  hash bytea not null
);
create index operator_log_at on operator_log (at);
create trigger operator_log_kept before update or delete on operator_log
  for each row execute function refuse_action_change();
create trigger operator_log_not_emptied before truncate on operator_log
  for each statement execute function refuse_action_change();

-- Hashes the hash of the line before, and the fields, each after its length in bytes.
create function hash_operator_line(previous bytea, seq bigint, at timestamptz, operator text, action text, entry jsonb)
  returns bytea language sql stable as $$
    select sha256(previous || convert_to(string_agg(octet_length(field) || ':' || field, '' order by place), 'UTF8'))
      from unnest(array[
        seq::text, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), operator, action, entry::text
      ]) with ordinality as fields (field, place)
  $$;

create function append_to_operator_log(operator text, action text, entry jsonb)
  returns void language plpgsql as $$
declare
  newest record;
  number bigint;
  before bytea;
  now_at timestamptz(3);
begin
  -- One line after the other, until the transaction ends.
  perform pg_advisory_xact_lock(16, 0);
  select seq, hash into newest from operator_log order by seq desc limit 1;
  number := coalesce(newest.seq, 0) + 1;
  before := coalesce(newest.hash, '\x0000000000000000000000000000000000000000000000000000000000000000');
  now_at := clock_timestamp();
  insert into operator_log (seq, at, operator, action, entry, previous, hash) values
    (number, now_at, operator, action, entry, before,
     hash_operator_line(before, number, now_at, operator, action, entry));
end $$;

-- Arguments: the column that names the person, the action, and the column that completes the action's name, if any.
create function log_operator_row() returns trigger language plpgsql as $$
declare
  fields jsonb := to_jsonb(new);
begin
  perform append_to_operator_log(
    fields ->> tg_argv[0],
    concat_ws(' ', tg_argv[1], fields ->> tg_argv[2]),
    fields || jsonb_build_object('table', tg_table_name));
  return null;
end $$;

create trigger operator_actions_logged after insert on operator_actions
  for each row execute function log_operator_row('operator', 'settlement', 'action');
create trigger lane_actions_logged after insert on lane_actions
  for each row execute function log_operator_row('operator', 'nonce', 'action');
create trigger chain_actions_logged after insert on chain_actions
  for each row execute function log_operator_row('operator', 'chain', 'action');
create trigger scanner_orders_logged after insert on scanner_orders
  for each row execute function log_operator_row('operator', 'scanner', 'kind');
create trigger screening_records_logged after insert on screening_records
  for each row when (new.operator is not null)
  execute function log_operator_row('operator', 'screening', 'verdict');
-- Refunds by policy and by an integrator's key are nobody's manual work.
create trigger address_refunds_logged after insert on address_refunds
  for each row when (new.operator not like 'policy:%' and new.operator not like 'api key:%')
  execute function log_operator_row('operator', 'refund');
create trigger pauses_logged after insert on pauses
  for each row execute function log_operator_row('operator', 'pause', 'scope');
create trigger pauses_end_logged after update on pauses
  for each row when (old.resumed_by is null and new.resumed_by is not null)
  execute function log_operator_row('resumed_by', 'resume', 'scope');
create trigger breaches_end_logged after update on breaches
  for each row when (old.ended_by is null and new.ended_by is not null)
  execute function log_operator_row('ended_by', 'end breach', 'invariant');
create trigger governance_changes_expected_logged after update on governance_changes
  for each row when (new.expected_by is not null and new.expected_by is distinct from old.expected_by)
  execute function log_operator_row('expected_by', 'expect', 'step');
