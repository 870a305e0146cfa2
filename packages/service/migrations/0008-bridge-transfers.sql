-- Value that a bridge burned on the source and mints on the destination (Circle's CCTP v2).
create table bridge_transfers (
  id uuid primary key,
  settlement_id uuid not null references settlements (id),
  state text not null check (state in ('burned', 'attested', 'delivered', 'final', 'superseded')),
  version integer not null default 0,
  src_chain integer not null,
  -- The burn, and the message that it sent.
  burn_tx_hash text not null,
  burn_block bigint not null,
  wallet text not null,
  token text not null,
  -- Kept by the route before the burn.
  fee numeric(78, 0) not null check (fee >= 0),
  burned_amount numeric(78, 0) not null check (burned_amount > 0),
  sent_message text not null,
  min_out numeric(78, 0) not null,
  dest_chain integer not null,
  dest_token text not null,
  dest_wallet text not null,
  -- What the attestation service says of it: the same message, filled in; null until it does.
  nonce text,
  attested_message text,
  attestation text,
  -- Why it takes longer than it might, as the service says; null where it says nothing.
  delay_reason text,
  reattests integer not null default 0,
  reattested_at timestamptz(3),
  -- Running number of transactions that hand the message in.
  relays integer not null default 0,
  -- The mint that our own reader saw; null before.
  mint_tx_hash text,
  delivered_amount numeric(78, 0),
  bridge_fee numeric(78, 0),
  -- Why the last look could not go on; null while all goes well.
  trouble jsonb,
  next_check_at timestamptz(3) not null,
  created_at timestamptz(3) not null default clock_timestamp(),
  -- What the auditor has yet to look for on both chains.
  audited boolean not null default false,
  check ((attested_message is null) = (attestation is null)),
  check (state not in ('attested', 'delivered', 'final') or attestation is not null),
  check ((mint_tx_hash is null) = (delivered_amount is null) and (mint_tx_hash is null) = (bridge_fee is null)),
  check (state not in ('delivered', 'final') or mint_tx_hash is not null)
);
create index bridge_transfers_due on bridge_transfers (dest_chain, next_check_at)
  where state in ('burned', 'attested', 'delivered');
-- A burn that left its chain makes room for the one that took its place.
create unique index bridge_transfers_settlement on bridge_transfers (settlement_id) where state <> 'superseded';
-- One message mints for one transfer.
create unique index bridge_transfers_nonce on bridge_transfers (dest_chain, nonce) where state <> 'superseded';
create index bridge_transfers_to_audit on bridge_transfers (src_chain) where state = 'final' and not audited;

-- In the ledger the value leaves the source through the account `bridge` and comes out of it on the destination; per
-- chain it says what the bridge took and gave, and of both chains together it is zero.
alter table ledger_lines drop constraint ledger_lines_reason_check;
alter table ledger_lines add constraint ledger_lines_reason_check check (reason in
  ('deposit', 'outflow', 'sweep', 'payout', 'lock_end', 'bridge', 'gas', 'adjustment'));
alter table ledger_lines drop constraint ledger_lines_account_check;
alter table ledger_lines add constraint ledger_lines_account_check check (account in ('external', 'wallet', 'transit',
  'in_flight', 'delivered', 'fees', 'inventory', 'bridge', 'treasury', 'refunded', 'lane', 'gas'));

-- Until the mint was seen the value is in flight.
create function post_bridge_transfer(t bridge_transfers, sign integer) returns void language plpgsql as $$
begin
  if t.state in ('delivered', 'final') then
    perform post_move('bridge', t.id::text, t.src_chain, t.token, t.burn_block,
      'in_flight', t.settlement_id::text, 'fees', '', sign * t.fee);
    perform post_move('bridge', t.id::text, t.src_chain, t.token, t.burn_block,
      'in_flight', t.settlement_id::text, 'bridge', '', sign * t.burned_amount);
    perform post_move('bridge', t.id::text, t.dest_chain, t.dest_token, null,
      'bridge', '', 'delivered', t.settlement_id::text, sign * t.delivered_amount);
    perform post_move('bridge', t.id::text, t.dest_chain, t.dest_token, null,
      'bridge', '', 'fees', 'bridge', sign * t.bridge_fee);
  end if;
end $$;
create function follow_bridge_transfer() returns trigger language plpgsql as $$
begin
  perform post_bridge_transfer(old, -1);
  perform post_bridge_transfer(new, 1);
  return null;
end $$;
create trigger bridge_transfers_posted after update on bridge_transfers for each row
  when ((old.state in ('delivered', 'final'), old.delivered_amount, old.bridge_fee, old.burned_amount, old.fee)
     is distinct from
        (new.state in ('delivered', 'final'), new.delivered_amount, new.bridge_fee, new.burned_amount, new.fee))
  execute function follow_bridge_transfer();
