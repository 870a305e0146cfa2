-- What the signer will sign, but not yet, waits in the queue until then and holds up nothing else of its lane.
alter table transactions add column retry_at timestamptz(3);
