-- Rows are polled in turns by the indexes of 0031, which also find the oldest due row of a chain; nothing reads these.
drop index concurrently if exists settlements_due;
drop index concurrently if exists deliveries_due;
drop index concurrently if exists settlements_to_follow;
drop index concurrently if exists settlements_dead;
