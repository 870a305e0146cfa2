-- Fees: who pays for gas, the terms on which a sweep was planned, and what each part came to in the ledger.

-- Null: as the configuration says.
alter table integrators add column gas text check (gas in ('sponsored', 'charged'));

-- The terms of the last planned sweep, in base units of the source token; null where none was planned since there are any.
alter table settlements add column fee_bps integer check (fee_bps between 0 and 9999);
alter table settlements add column fee_flat numeric(78, 0) check (fee_flat >= 0);
alter table settlements add column fee_bridge numeric(78, 0) check (fee_bridge >= 0);
alter table settlements add check (num_nulls(fee_bps, fee_flat, fee_bridge) in (0, 3));

-- What the payout of a lock leaves in it, in base units of the source token; null for locks from before.
alter table deliveries add column fee_service numeric(78, 0) check (fee_service >= 0);
alter table deliveries add column fee_gas numeric(78, 0) check (fee_gas >= 0);
alter table deliveries add check (num_nulls(fee_service, fee_gas) in (0, 2));
alter table deliveries add check (coalesce(fee_service + fee_gas, 0) < locked_amount);

-- A claimed lock repays inventory for what it paid; what the payout left in it is the fee.
create or replace function follow_delivery() returns trigger language plpgsql as $$
declare
  fee_service numeric := coalesce(new.fee_service, 0);
  fee_gas numeric := coalesce(new.fee_gas, 0);
begin
  perform post_move('payout', new.id, new.dest_chain, new.dest_token, null,
    'inventory', '', 'delivered', new.settlement_id::text, paid_of(new) - paid_of(old));
  if old.state <> new.state and new.state = 'claimed' then
    perform post_move('lock_end', new.id, new.src_chain, new.token, null,
      'in_flight', new.settlement_id::text, 'treasury', '', new.locked_amount - fee_service - fee_gas);
    perform post_move('lock_end', new.id, new.src_chain, new.token, null,
      'in_flight', new.settlement_id::text, 'fees', 'service', fee_service);
    perform post_move('lock_end', new.id, new.src_chain, new.token, null,
      'in_flight', new.settlement_id::text, 'fees', 'gas', fee_gas);
  elsif old.state <> new.state and new.state = 'taken_back' then
    perform post_move('lock_end', new.id, new.src_chain, new.token, null,
      'in_flight', new.settlement_id::text, 'refunded', new.wallet, new.locked_amount);
  end if;
  return null;
end $$;

-- The same of what a bridge carried: what was kept before the burn is gas first, the rest is the service's.
create or replace function post_bridge_transfer(t bridge_transfers, sign integer) returns void language plpgsql as $$
declare
  gas numeric := (select least(coalesce(s.fee_flat, 0), t.fee) from settlements s where s.id = t.settlement_id);
begin
  if t.state in ('delivered', 'final') then
    perform post_move('bridge', t.id::text, t.src_chain, t.token, t.burn_block,
      'in_flight', t.settlement_id::text, 'fees', 'gas', sign * gas);
    perform post_move('bridge', t.id::text, t.src_chain, t.token, t.burn_block,
      'in_flight', t.settlement_id::text, 'fees', 'service', sign * (t.fee - gas));
    perform post_move('bridge', t.id::text, t.src_chain, t.token, t.burn_block,
      'in_flight', t.settlement_id::text, 'bridge', '', sign * t.burned_amount);
    perform post_move('bridge', t.id::text, t.dest_chain, t.dest_token, null,
      'bridge', '', 'delivered', t.settlement_id::text, sign * t.delivered_amount);
    perform post_move('bridge', t.id::text, t.dest_chain, t.dest_token, null,
      'bridge', '', 'fees', 'bridge', sign * t.bridge_fee);
  end if;
end $$;
