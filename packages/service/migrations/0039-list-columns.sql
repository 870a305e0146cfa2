-- Lists of settlements by user: the user is on the row, so that an index has both the filter and the order of its pages.
alter table settlements add column user_id text;

-- By a trigger, so that processes of the release before write it too.
create function set_user() returns trigger language plpgsql as $$
begin
  select a.user_id into new.user_id from addresses a where a.id = new.address_id;
  return new;
end $$;
create trigger settlements_user before insert on settlements for each row execute function set_user();

-- Nothing that the triggers watch changes.
alter table settlements disable trigger user;
update settlements s set user_id = a.user_id from addresses a where a.id = s.address_id;
alter table settlements enable trigger user;

-- A partitioned table has no concurrent indexes.
create index events_type on events (integrator_id, type, created_at);
