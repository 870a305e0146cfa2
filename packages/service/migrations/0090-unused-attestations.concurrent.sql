create index concurrently attestations_unused on attestations (deadline) where not used;
