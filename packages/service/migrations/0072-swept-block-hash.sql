-- The block that a recorded sweep was read from. A reorg may replace it by one at the same height, where the sweep took
-- something else. Null for sweeps recorded before: those are read once more.
alter table settlements add column swept_block_hash text;
