-- The verdict names the cause and the remedy of a breach; null in rows of earlier releases. A breach of one wallet and token
-- quarantines that token in that wallet. Any other halts the chain.
alter table breaches
  add column verdict text,
  add column wallet text,
  add column token text,
  -- Since when the compared values agree again; null while they do not, and where nothing can agree again.
  add column held_since timestamptz(3),
  add check ((wallet is null) = (token is null));
create index breaches_halting on breaches (chain_id) where ended_at is null and wallet is null;
create index breaches_quarantine on breaches (chain_id, wallet, token) where ended_at is null and wallet is not null;

-- A payout that was made stays made, also where its lock then ended in another way than by a claim.
create or replace function paid_of(d deliveries) returns numeric language sql immutable as $$
  select coalesce(d.delivered_amount, 0);
$$;

-- A reorganisation of final blocks opens final transactions again: their gas is posted back, and once more when they are
-- final again.
create or replace function follow_transaction() returns trigger language plpgsql as $$
begin
  perform post_move('gas', new.id::text, new.chain_id, '0x0000000000000000000000000000000000000000',
    old.mined_block_number, 'lane', new.lane, 'gas', new.lane, -coalesce(old.gas_cost, 0))
    where old.state = 'final';
  perform post_move('gas', new.id::text, new.chain_id, '0x0000000000000000000000000000000000000000',
    new.mined_block_number, 'lane', new.lane, 'gas', new.lane, coalesce(new.gas_cost, 0))
    where new.state = 'final';
  return null;
end $$;
drop trigger transactions_posted on transactions;
create trigger transactions_posted after update on transactions for each row
  when ((old.state = 'final') is distinct from (new.state = 'final') and new.nonce is not null)
  execute function follow_transaction();
