-- How often an attempt was sent and how the node answered last: rebroadcasts back off, and no fee is raised for a lane that
-- cannot pay. Rows from before count as never sent, so they are rebroadcast once.
alter table attempts add column sends integer not null default 0 check (sends >= 0);
alter table attempts add column outcome text check (
  outcome in ('accepted', 'known', 'nonce_too_low', 'underpriced', 'insufficient_funds', 'unknown'));
