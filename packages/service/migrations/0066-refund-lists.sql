-- Lists of refunds by user and state, and of events by user and token: each filter has its column and its index.
alter table address_refunds add column user_id text;
-- By a trigger, so that processes of the release before write it too.
create trigger address_refunds_user before insert on address_refunds for each row execute function set_user();

alter table address_refunds disable trigger address_refunds_kept;
update address_refunds r set user_id = a.user_id from addresses a where a.id = r.address_id;
alter table address_refunds enable trigger address_refunds_kept;

alter table refund_states add column integrator_id uuid references integrators (id);
alter table refund_states add column at timestamptz(3);

create or replace function add_refund_state() returns trigger language plpgsql as $$
begin
  insert into refund_states (refund_id, number, chain_id, integrator_id, at)
    values (new.id, new.number, new.chain_id, new.integrator_id, new.at);
  return new;
end $$;

update refund_states s set integrator_id = r.integrator_id, at = r.at from address_refunds r where r.id = s.refund_id;
-- Refunds from before states were recorded. All of them ended.
insert into refund_states (refund_id, number, chain_id, integrator_id, at, state)
  select r.id, r.number, r.chain_id, r.integrator_id, r.at,
         case when t.state = 'final' and t.succeeded then 'refunded'
              when t.id is not null then 'failed'
              when exists (select from attestation_answers w where w.attestation_id = r.attestation_id
                              and w.refusal is not null) then 'refused'
              else 'lapsed' end
    from address_refunds r left join transactions t on t.intent = r.intent
   where not exists (select from refund_states s where s.refund_id = r.id);

-- A partitioned table has no concurrent indexes.
create index events_user on events (integrator_id, (details ->> 'userId'), created_at);
create index events_token on events (integrator_id, (data ->> 'tokenAddress'), created_at);
