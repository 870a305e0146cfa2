-- By their deadline, as the attestors read them.
create index concurrently attestations_unused on attestations (deadline) where not used;
