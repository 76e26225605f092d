-- Credentials that the accounts of many agents share (docs/contract.md#shared-credentials).
create table credentials (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  project_id uuid references projects on delete cascade, -- null: for agents of every project
  name text not null,
  provider_slug text not null,
  custom_provider_id uuid references custom_providers,
  status text not null default 'active' check (status in ('active', 'needs_credentials')),
  key_id text not null,
  nonce bytea not null,
  ciphertext bytea not null,
  circuit_key text,
  refused_at timestamptz,   -- null: the provider has not refused them
  created_at timestamptz not null default now(),
  rotated_at timestamptz
);
create index credentials_org on credentials (org_id, created_at desc, id desc);
create index credentials_key on credentials (key_id);
create index credentials_custom on credentials (custom_provider_id);
create index credentials_project on credentials (project_id);
create index credentials_refused on credentials (refused_at) where refused_at is not null;

-- An account has a credential of its own or a shared one. Checked at the commit: an organization is deleted with both.
alter table provider_accounts
  add column credential_id uuid references credentials deferrable initially deferred,
  alter column key_id drop not null,
  alter column nonce drop not null,
  alter column ciphertext drop not null,
  add constraint provider_accounts_one_credential check (
    (credential_id is null) = (ciphertext is not null and key_id is not null and nonce is not null));
create index provider_accounts_credential on provider_accounts (credential_id);
