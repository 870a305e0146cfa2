-- What each integrator's deliveries took of a token's daily cap, by hour, so that one integrator cannot use up the cap of
-- all. Running sums: their cost does not grow with the number of deliveries.
create table payout_hours (
  dest_chain integer not null,
  token text not null,
  integrator_id uuid not null references integrators (id),
  hour bigint not null,
  amount numeric(78) not null,
  primary key (dest_chain, token, integrator_id, hour)
);
