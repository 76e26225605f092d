-- Single sign-on of organizations by OpenID Connect. Users are global, providers belong to one organization: an identity
-- is the organization's issuer and `sub`, and never an e-mail address.
create table sso_connections (
  id uuid primary key,
  org_id uuid not null unique references organizations on delete cascade,
  issuer text not null,
  client_id text not null,
  -- The client secret.
  key_id text not null,
  nonce bytea not null,
  ciphertext bytea not null,
  -- Of people who log in for the first time; null: they need an invitation.
  default_role text check (default_role in ('viewer', 'member', 'admin')),
  created_at timestamptz not null default now()
);

create table sso_domains (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  domain text not null,
  token text not null,         -- the content of its TXT record
  verified_at timestamptz,
  checked_at timestamptz,      -- null: never
  created_at timestamptz not null default now(),
  unique (org_id, domain)
);
-- A domain is verified by one organization.
create unique index sso_domains_verified on sso_domains (domain) where verified_at is not null;

create table sso_identities (
  org_id uuid not null references organizations on delete cascade,
  issuer text not null,
  subject text not null,
  user_id uuid not null references users on delete cascade,
  created_at timestamptz not null default now(),
  primary key (org_id, issuer, subject)
);
create index sso_identities_user on sso_identities (user_id);

-- Logins under way, each bound to one browser. The callback deletes its row, so no answer of a provider counts twice.
create table sso_logins (
  state_hash bytea primary key,
  org_id uuid not null references organizations on delete cascade,
  browser_hash bytea not null,
  nonce text not null,
  code_verifier text not null,
  expires_at timestamptz not null
);
create index sso_logins_expiry on sso_logins (expires_at);

-- People whom the provider has named and who still have to log in once to the account of their address.
create table sso_links (
  browser_hash bytea primary key,
  org_id uuid not null references organizations on delete cascade,
  issuer text not null,
  subject text not null,
  user_id uuid not null references users on delete cascade,
  expires_at timestamptz not null
);
create index sso_links_expiry on sso_links (expires_at);

-- Opened by single sign-on: serves its organization only.
alter table sessions add column sso boolean not null default false;

create view suspended_sso as
  select id, org_id, key_id, nonce, ciphertext from suspended_items where kind = 'sso' and key_id is not null;
