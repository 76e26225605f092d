-- Accounts that a person connects at the provider (OAuth 2.0 authorization code).
create table oauth_grants (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  account_id uuid unique references provider_accounts on delete cascade,
  credential_id uuid unique references credentials on delete cascade,
  -- The refresh token, where the provider gave one.
  key_id text not null,
  nonce bytea not null,
  ciphertext bytea not null,
  connected_by uuid references users on delete set null,
  connected_at timestamptz not null default now(),
  check ((account_id is null) <> (credential_id is null))
);
create index oauth_grants_org on oauth_grants (org_id);

-- Connections under way, each bound to one browser and user. The callback deletes its row, so no code counts twice.
create table oauth_connects (
  state_hash bytea primary key,
  org_id uuid not null references organizations on delete cascade,
  account_id uuid references provider_accounts on delete cascade,
  credential_id uuid references credentials on delete cascade,
  user_id uuid not null references users on delete cascade,
  browser_hash bytea not null,
  code_verifier text not null,
  redirect_uri text not null,
  expires_at timestamptz not null
);
create index oauth_connects_expiry on oauth_connects (expires_at);

-- The provider ends a grant whose former refresh token is used again: an exchange without an answer is repeated only
-- just before the present token expires.
alter table minted_credentials add column strict boolean not null default false;

-- How the credential of an account is obtained; null: it is stored.
alter table provider_accounts add column method text, add column mint_kind text;
alter table credentials add column method text, add column mint_kind text;
