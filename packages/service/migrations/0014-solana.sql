-- Solana: deposit addresses of another family, and transactions that expire.

alter table addresses drop constraint addresses_chain_family_check;
alter table addresses add check (chain_family in ('evm', 'svm'));
-- The signer's word that the wallet is the commitment's, where nobody can compute it.
alter table addresses add column proof text;
alter table addresses add check ((proof is null) = (chain_family = 'evm'));

-- Who may take funds back on Solana; required before addresses there are issued.
alter table integrators add column refund_solana text;

-- What the lifetime of a signed transaction of Solana ends with; null where nonces order transactions.
alter table attempts add column blockhash text;
alter table attempts add column last_valid_height bigint;
alter table attempts add check ((blockhash is null) = (last_valid_height is null));

-- A sweep of Solana takes what it names: what had arrived up to a block. Elsewhere it takes all that is there.
alter table settlements add column swept_up_to bigint;
-- Deposits before this position are the sweep's.
alter table settlements add column taken_block bigint
  generated always as (coalesce(swept_up_to, swept_block)) stored;
alter table settlements add column taken_log_index integer
  generated always as (case when swept_up_to is null then swept_log_index else 2147483647 end) stored;

-- What no signer signs (any more), and of which nothing can be mined: it has no outcome on the chain, and never will.
alter table transactions drop constraint transactions_state_check;
alter table transactions
  add constraint transactions_state_check
    check (state in ('queued', 'carried', 'assigned', 'mined', 'final', 'abandoned'));
