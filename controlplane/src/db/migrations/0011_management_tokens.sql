-- Tokens for programs that manage an organization. What one may do is never more than its creator may now.
create table management_tokens (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  -- Null: the whole organization.
  project_id uuid references projects on delete cascade,
  name text not null,
  role text not null check (role in ('admin', 'member', 'viewer')),
  token_prefix text not null,
  token_hash bytea not null unique,
  created_by uuid not null references users on delete cascade,
  last_used_at timestamptz,
  expires_at timestamptz,
  created_at timestamptz not null default now()
);
create index management_tokens_org on management_tokens (org_id, created_at desc, id desc);
create index management_tokens_creator on management_tokens (created_by, org_id);
create index management_tokens_project on management_tokens (project_id);

-- No foreign key: the trail outlives the token. With a token, actor_user_id is null and actor_email empty.
alter table audit_entries add column actor_token_id uuid, add column actor_token_name text;
