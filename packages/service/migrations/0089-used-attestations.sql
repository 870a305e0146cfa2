-- A request whose signatures a planned transaction carries needs no further answer. Until its deadline it was read by every
-- poll of the attestors, an hour of claims at each.
alter table attestations add column used boolean not null default false;
