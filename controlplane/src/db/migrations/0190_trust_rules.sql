-- Trust rules (docs/contract.md#trust-rules): which tokens of another issuer a workload may exchange for a gateway key.
create table trust_rules (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  project_id uuid not null references projects on delete cascade,
  agent_id uuid not null references agents on delete cascade,
  name text not null,
  issuer text not null,
  audience text not null,
  conditions jsonb not null,          -- [{"claim": …, "values": […]}]
  key_lifetime_s integer not null check (key_lifetime_s between 60 and 3600),
  jti_once boolean not null,
  keys_uploaded boolean not null,     -- false: the issuer's discovery document names them
  -- A JWK set. Null: never read, or the rule is deleted.
  jwks jsonb,
  keys_read_at timestamptz,
  keys_attempted_at timestamptz,      -- of the last request to the issuer, whatever its outcome
  keys_failure text,                  -- of that request; null: it succeeded
  revision integer not null default 1, -- an exchange that began under an earlier one fails
  last_used_at timestamptz,
  rejected_at timestamptz,
  rejection text,
  created_at timestamptz not null default now(),
  created_by uuid references users on delete set null,
  deleted_at timestamptz              -- the row stays, because usage names it
);
create index trust_rules_org on trust_rules (org_id, created_at desc, id desc) where deleted_at is null;
create index trust_rules_agent on trust_rules (agent_id);
create index trust_rules_project on trust_rules (project_id);
create index trust_rules_creator on trust_rules (created_by) where created_by is not null;

-- Gateway keys that exchanges returned. Usage, sessions and invalidations name their rule instead of each key.
create table trust_rule_keys (
  token_hash bytea primary key,       -- SHA-256 of the token, which is stored nowhere
  rule_id uuid not null references trust_rules on delete cascade,
  expires_at timestamptz not null
);
create index trust_rule_keys_rule on trust_rule_keys (rule_id);
create index trust_rule_keys_expiry on trust_rule_keys (expires_at);

-- Tokens that were exchanged, where the rule accepts each only once.
create table trust_rule_used_tokens (
  rule_id uuid not null references trust_rules on delete cascade,
  jti_hash bytea not null,            -- SHA-256
  expires_at timestamptz not null,
  primary key (rule_id, jti_hash)
);
create index trust_rule_used_tokens_expiry on trust_rule_used_tokens (expires_at);

-- What usage may name as the key of a call.
create view key_names as
  select id, org_id, name, key_prefix from api_keys
  union all
  select id, org_id, name, null from trust_rules;
