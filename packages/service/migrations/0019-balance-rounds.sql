-- Wallets that are compared most often: quoted in the last day or paid in the last month. Addresses are compared bytewise,
-- whatever the language of the database: some order "aa" after "z".
create table fresh_wallets (
  chain_id integer not null,
  integrator_id uuid not null references integrators (id),
  wallet text collate "C" not null,
  fresh_until timestamptz(3) not null,
  primary key (chain_id, integrator_id, wallet)
);
create index fresh_wallets_until on fresh_wallets (chain_id, fresh_until);

insert into fresh_wallets
  select d.chain_id, d.integrator_id, d.wallet, max(d.detected_at) + interval '30 days'
    from deposits d join addresses a on a.id = d.address_id
    where a.chain_family = 'evm' and d.detected_at > now() - interval '30 days'
    group by d.chain_id, d.integrator_id, d.wallet;
-- The chain of a quote was not recorded, so these are fresh on every chain.
insert into fresh_wallets
  select c.chain_id, a.integrator_id, a.wallet, a.created_at + interval '1 day'
    from addresses a cross join (select distinct chain_id from scanner_blocks) c
    where a.chain_family = 'evm' and a.created_at > now() - interval '1 day'
  on conflict do nothing;

-- Each integrator has rounds of its own, so that one with many wallets delays nobody else.
drop table balance_rounds;
create table balance_rounds (
  chain_id integer not null,
  list text not null check (list in ('fresh', 'all')),
  integrator_id uuid not null references integrators (id),
  -- The place in the order of addresses up to which wallets are compared.
  position text collate "C" not null,
  -- When a round without delay was at this place.
  swept_at timestamptz(3) not null,
  primary key (chain_id, list, integrator_id)
);
create index addresses_round on addresses (chain_family, integrator_id, wallet collate "C");
-- Ordered the newest wallets of all integrators together.
drop index addresses_created;
