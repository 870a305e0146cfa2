-- An address may commit the set of routes that may settle it, and settlements without the operator. Both are part of the
-- commitment, so they are stored with its other fields; the set itself is stored because its root proves no route.
alter table addresses add column routes text not null
  default '0x0000000000000000000000000000000000000000000000000000000000000000';
alter table addresses add column flags integer not null default 0 check (flags in (0, 1));
alter table addresses add column route_set jsonb;
alter table addresses add column fixed boolean not null default false;
alter table addresses add constraint addresses_fixed check (fixed = (route_set is not null));
alter table addresses add constraint addresses_route_set check (
  (route_set is null) = (routes = '0x0000000000000000000000000000000000000000000000000000000000000000'));
-- A vault has no route contracts, and nothing on Solana settles without the signer.
alter table addresses add constraint addresses_routes_evm check (
  chain_family = 'evm' or (route_set is null and flags = 0));

-- One address per destination and choice of these two; the oldest is the answer to a request without a choice.
do $$
declare
  old text;
begin
  select conname into strict old from pg_constraint
    where conrelid = 'addresses'::regclass and contype = 'u' and array_length(conkey, 1) = 6;
  execute format('alter table addresses drop constraint %I', old);
end $$;
alter table addresses add constraint addresses_destination unique
  (integrator_id, chain_family, user_id, dest_chain, dest_wallet, dest_token, fixed, flags);

-- The choice of requests that make none.
alter table integrators add column routes text not null default 'governed'
  check (routes in ('fixed', 'governed'));
alter table integrators add column unattended boolean not null default false;

-- A settlement that somebody else executed leaves the books like a refund: no settlement of ours accounts for it.
alter table outflows drop constraint outflows_kind_check;
alter table outflows add check (kind in ('swept', 'refunded', 'returned', 'unattended'));
create or replace function post_outflow(o outflows, sign integer) returns void language plpgsql as $$
begin
  perform post_move('outflow', o.block_hash || ':' || o.log_index, o.chain_id, o.token, o.block_number, 'wallet', o.wallet,
    case when o.kind in ('refunded', 'unattended') then 'refunded' else 'transit' end, o.wallet, sign * o.amount);
end $$;
