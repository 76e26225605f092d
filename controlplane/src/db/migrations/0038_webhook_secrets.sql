-- The secret before the present one of an endpoint, which signs beside it for a while (docs/webhooks.md#a-new-secret).
-- Sealed for the endpoint like the present one, so it can only be read as that endpoint's.
create table webhook_previous_secrets (
  id uuid primary key references webhook_endpoints on delete cascade,
  org_id uuid not null,
  key_id text not null,
  nonce bytea not null,
  ciphertext bytea not null,
  until timestamptz not null
);
create index webhook_previous_secrets_key on webhook_previous_secrets (key_id);
create index webhook_previous_secrets_until on webhook_previous_secrets (until);
