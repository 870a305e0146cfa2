-- Several attestors answer a request, each in rows of its own. An attestor with a user of its own sees and writes only the
-- rows that its user wrote: attestors do not know each other, and none can take the place of another.
create table attestation_answers (
  attestation_id text not null references attestations (id),
  attestor text not null,
  -- The user of the database that wrote the row. An answer counts by its signature, not by the attestor that it names.
  written_by text not null default current_user,
  signature text,
  refusal text,
  -- A request that cannot be answered yet makes room for the others.
  next_check_at timestamptz(3) not null,
  answered_at timestamptz(3),
  primary key (attestation_id, attestor, written_by),
  check (signature is null or refusal is null)
);
alter table attestation_answers enable row level security;
create policy own_rows on attestation_answers
  using (written_by = current_user) with check (written_by = current_user);

-- The rate of a price is part of the request, so that all attestors sign the same.
drop index attestations_open;
alter table attestations
  drop column signature,
  drop column refusal,
  drop column signer,
  drop column next_check_at,
  drop column answered_at;
-- Requests that have not expired, which are few however many there were.
create index attestations_deadline on attestations (deadline);
