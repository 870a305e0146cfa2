-- By which an identity provider (OpenID Connect) knows an operator: an e-mail address until the first sign-in, from then on
-- the provider's own name for the person, which it gives to nobody else.
alter table operators
  add column identity text unique check (identity = lower(identity) and identity ~ '^[^[:cntrl:][:space:]]{3,254}$'),
  add column subject text unique check (subject <> '');
