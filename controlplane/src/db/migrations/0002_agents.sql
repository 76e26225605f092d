-- Agents, their tokens, provider accounts and custom providers (docs/contract.md#providers).

create table agents (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  project_id uuid not null references projects,
  name text not null,
  slug text not null,
  description text not null default '',
  status text not null default 'active' check (status in ('active', 'paused', 'revoked')),
  rpm_limit integer,              -- null = default 60
  rpd_limit integer,              -- null = default 10000
  budget_cents_monthly bigint,    -- null = no budget
  usage_thresholds integer[] not null default '{80}', -- percent of the budget
  created_at timestamptz not null default now(),
  unique (project_id, slug)
);
create index agents_org on agents (org_id, created_at desc, id desc);
create index agents_org_slug on agents (org_id, slug); -- tokens of scope org name agents by slug

create table api_keys (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  project_id uuid references projects on delete cascade,
  agent_id uuid references agents on delete cascade,
  name text not null,
  key_prefix text not null,
  token_hash bytea not null unique, -- SHA-256 of the token, which is stored nowhere
  scope text not null check (scope in ('agent', 'project', 'org')),
  last_used_at timestamptz,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  check ((scope = 'agent') = (agent_id is not null)),
  check (scope <> 'project' or project_id is not null)
);
create index api_keys_org on api_keys (org_id, created_at desc, id desc) where revoked_at is null;
create index api_keys_agent on api_keys (agent_id);
create index api_keys_project on api_keys (project_id);

create table custom_providers (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  slug text not null,
  display_name text not null,
  base_url text not null,
  auth_type text not null check (auth_type in ('bearer', 'header', 'basic', 'query', 'none')),
  auth_name text,
  auth_prefix text,
  usage_format text check (usage_format in ('openai', 'anthropic')),
  created_at timestamptz not null default now(),
  deleted_at timestamptz
);
create unique index custom_providers_live_slug on custom_providers (org_id, slug) where deleted_at is null;

-- AES-256-GCM: nonce and ciphertext (with tag) of the credentials as JSON; org and account id are additional data.
create table provider_accounts (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  agent_id uuid not null references agents on delete cascade,
  provider_slug text not null,
  custom_provider_id uuid references custom_providers,
  status text not null default 'active' check (status in ('active', 'needs_credentials')),
  mode text not null default 'byok',
  key_id text not null,
  nonce bytea not null,
  ciphertext bytea not null,
  created_at timestamptz not null default now(),
  rotated_at timestamptz,
  unique (agent_id, provider_slug)
);
create index provider_accounts_key on provider_accounts (key_id);
create index provider_accounts_custom on provider_accounts (custom_provider_id);

-- One known text per master key: a start with the wrong key is refused before anything is written with it.
create table master_key_checks (
  key_id text primary key,
  nonce bytea not null,
  ciphertext bytea not null
);
