-- Lists of deposits by user: the user is on the row, as on that of a settlement.
alter table deposits add column user_id text;

-- By a trigger, so that processes of the release before write it too.
create trigger deposits_user before insert on deposits for each row execute function set_user();

-- Nothing that the triggers watch changes.
alter table deposits disable trigger user;
update deposits d set user_id = a.user_id from addresses a where a.id = d.address_id;
alter table deposits enable trigger user;
