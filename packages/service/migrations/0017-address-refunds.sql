-- Refunds of what no settlement took, on chains where only the signer can move it: asked for by address and token.
create table address_refunds (
  id uuid primary key,
  number bigint not null generated always as identity,
  address_id uuid not null references addresses (id),
  chain_id integer not null,
  wallet text not null,
  token text not null,
  -- What the order takes, in base units.
  amount numeric(78, 0) not null check (amount > 0),
  -- The refund authority of the address, and nobody else.
  refund_to text not null,
  -- The account of the operating system that ran the command, and its machine.
  operator text not null check (operator <> ''),
  reason text not null check (reason <> ''),
  -- Of the transaction that pays it.
  intent text not null unique generated always as ('refund:' || id::text || ':1') stored,
  at timestamptz(3) not null default clock_timestamp()
);
create index address_refunds_holding on address_refunds (chain_id, wallet, token, number);

create trigger address_refunds_kept before update or delete on address_refunds
  for each row execute function refuse_action_change();
create trigger address_refunds_not_emptied before truncate on address_refunds
  for each statement execute function refuse_action_change();

-- Refunds of a holding that may still be mined, whoever asked for them and how.
create view open_refunds as
  select t.intent, t.chain_id, s.wallet, s.token
    from transactions t join settlements s on s.id = t.settlement_id
   where t.intent like 'refund:%' and t.state not in ('final', 'abandoned')
  union all
  select t.intent, r.chain_id, r.wallet, r.token
    from transactions t join address_refunds r on r.intent = t.intent
   where t.state not in ('final', 'abandoned');

-- Invariant: of a holding no refund and no sweep are open at once, and no two refunds. An order that is signed again later
-- would take what arrived meanwhile, which is not its own.
create function refuse_rival() returns trigger language plpgsql as $$
declare
  held record;
begin
  select chain_id, wallet, token into held from address_refunds where intent = new.intent;
  if not found then
    select chain_id, wallet, token into held from settlements where id = new.settlement_id;
  end if;
  if exists (select from open_refunds o where o.intent <> new.intent
               and (o.chain_id, o.wallet, o.token) = (held.chain_id, held.wallet, held.token)) then
    raise exception '%: a refund of the same holding is on its way', new.intent;
  end if;
  if new.intent like 'refund:%' and exists (
       select from settlements s where (s.chain_id, s.wallet, s.token) = (held.chain_id, held.wallet, held.token)
         and s.status not in ('completed', 'dead')) then
    raise exception '%: a settlement of the same holding is under way', new.intent;
  end if;
  return new;
end $$;
create trigger transactions_without_rival before insert on transactions
  for each row when (new.intent like 'sweep:%' or new.intent like 'refund:%')
  execute function refuse_rival();
