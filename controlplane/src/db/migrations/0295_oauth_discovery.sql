-- Clients that the gateway has registered at authorization servers (RFC 7591), each for one organization, issuer and
-- redirect URI. An issuer's client is used at no other issuer.
create table oauth_clients (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  issuer text not null,
  redirect_uri text not null,
  client_id text not null,
  -- none, basic or post.
  authentication text not null,
  -- The client secret; empty for a public client.
  key_id text not null,
  nonce bytea not null,
  ciphertext bytea not null,
  -- When the secret expires; null: never.
  secret_expires_at timestamptz,
  created_at timestamptz not null default now()
);
create index oauth_clients_reuse on oauth_clients (org_id, issuer, redirect_uri, created_at desc);
create index oauth_clients_age on oauth_clients (created_at);

-- What the metadata of the server stated; null: the provider's file states the endpoints.
alter table oauth_connects add column server jsonb,
  add column registration_id uuid references oauth_clients on delete cascade;
alter table oauth_grants add column server jsonb,
  add column registration_id uuid references oauth_clients on delete set null;
create index oauth_connects_registration on oauth_connects (registration_id) where registration_id is not null;
create index oauth_grants_registration on oauth_grants (registration_id) where registration_id is not null;
