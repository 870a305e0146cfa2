-- When a delivery that could not be proved is audited again; null before its first audit.
alter table deliveries add column audit_again_at timestamptz(3);
alter table bridge_transfers add column audit_again_at timestamptz(3);
