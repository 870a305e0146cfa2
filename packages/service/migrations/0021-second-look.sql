-- The height up to which the logs of final blocks were read a second time; null before the first time.
alter table scanner_finality add column looked_again bigint;
