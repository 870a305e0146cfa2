-- Appends events of one statement at once, in the order in which they are given. Stamps increase strictly per integrator: the
-- first is the next one, and each further one is a millisecond later. `append_event` stays for processes of the release before.
create function append_events(ids uuid[], integrators uuid[], types text[], payloads jsonb[], facts jsonb[])
returns void language plpgsql as $$
declare
  integrator uuid;
begin
  for integrator in select distinct given from unnest(integrators) as given order by given loop
    perform lock_stamps(integrator);
  end loop;
  -- A statement of its own, so that it sees what the holder before committed.
  with first as materialized (
    select given.id, next_stamp((select e.created_at from events e where e.integrator_id = given.id
                                 order by e.created_at desc limit 1)) as stamp
      from (select distinct one from unnest(integrators) as one) as given (id)
  )
  insert into events (integrator_id, created_at, id, type, data, details)
  select added.integrator, first.stamp + (row_number() over own - 1) * interval '1 millisecond',
         added.id, added.type, added.payload, added.fact
    from unnest(ids, integrators, types, payloads, facts) with ordinality
           as added (id, integrator, type, payload, fact, place)
    join first on first.id = added.integrator
  window own as (partition by added.integrator order by added.place)
   order by added.place;
end $$;
