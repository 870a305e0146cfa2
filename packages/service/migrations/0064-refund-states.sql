-- The state of each refund that was requested by address, as it was last announced to its integrator. The database adds the row
-- with the refund, so that refunds requested by processes of the release before are announced too.
create table refund_states (
  -- Of `address_refunds`, whose rows are never deleted. No reference, so that its own protection answers a truncation.
  refund_id uuid primary key,
  number bigint not null,
  chain_id integer not null,
  -- Null before the first announcement.
  state text check (state in ('requested', 'sent', 'mined', 'refunded', 'failed', 'refused', 'lapsed'))
);
create index refund_states_open on refund_states (chain_id, number)
  where state is null or state in ('requested', 'sent', 'mined');

create function add_refund_state() returns trigger language plpgsql as $$
begin
  insert into refund_states (refund_id, number, chain_id) values (new.id, new.number, new.chain_id);
  return new;
end $$;
create trigger address_refunds_announced after insert on address_refunds
  for each row execute function add_refund_state();

-- Refunds that ended before are not announced.
insert into refund_states (refund_id, number, chain_id)
  select r.id, r.number, r.chain_id from address_refunds r
   where r.intent in (select intent from open_refunds) or r.deadline > extract(epoch from now());
