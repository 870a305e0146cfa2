-- Each row is updated several times while it is open, and never again: by default as many dead rows as a fifth of the
-- table wait for a vacuum, however large the table grows.
alter table deliveries set (autovacuum_vacuum_scale_factor = 0.05);
