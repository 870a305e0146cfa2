-- Refunds by policy: attestors sign them, and a relayer of the service sends them. The request is the row of a refund; what
-- became of it follows from the answers to its attestation and from its transaction.
alter table attestations drop constraint attestations_kind_check;
alter table attestations
  add constraint attestations_kind_check check (kind in ('delivery', 'claim', 'return', 'price', 'refund'));

alter table address_refunds
  -- The reason that attestors are asked to confirm; null where the signer pays without them.
  add column policy_reason text check (policy_reason in ('below_minimum', 'unlisted', 'dead', 'expired')),
  -- Unix seconds in which the contract accepts the signatures for the last time.
  add column deadline bigint,
  add column attestation_id text references attestations (id),
  add constraint address_refunds_attested check (
    (policy_reason is null) = (deadline is null) and (policy_reason is null) = (attestation_id is null));
