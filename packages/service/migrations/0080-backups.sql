-- Finished backups, so that the doctor can tell how old the newest one is.
create table backups (
  id bigint generated always as identity primary key,
  started_at timestamptz(3) not null,
  finished_at timestamptz(3) not null,
  bytes bigint not null
);
