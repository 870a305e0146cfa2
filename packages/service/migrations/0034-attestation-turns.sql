-- Integrators take turns in the queue of attestation requests too. The attestor's user reads no table of integrators, so each
-- request knows its integrator and that one's weight. By a trigger, so that processes of the release before write them too.
alter table attestations
  add column integrator_id uuid not null default '00000000-0000-0000-0000-000000000000',
  add column queue_weight integer not null default 1 check (queue_weight between 1 and 100);

create function set_attestation_turn() returns trigger language plpgsql as $$
declare
  -- The commitment names the integrator as a word, padded on the left.
  integrator text := new.request #>> '{commitment,integrator}';
begin
  if integrator ~ '^0x[0-9a-f]{64}$' then
    new.integrator_id := right(integrator, 32)::uuid;
    new.queue_weight := queue_weight(new.integrator_id);
  end if;
  return new;
end $$;
create trigger attestations_turn before insert on attestations
  for each row execute function set_attestation_turn();

update attestations set integrator_id = right(request #>> '{commitment,integrator}', 32)::uuid
  where request #>> '{commitment,integrator}' ~ '^0x[0-9a-f]{64}$';
