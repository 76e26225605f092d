-- SCIM 2.0 (RFC 7643, RFC 7644): what an organization's directory says about its people. A directory touches
-- memberships of its organization, and never an account.
create table scim_tokens (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  name text not null,
  token_prefix text not null,
  token_hash bytea not null unique, -- SHA-256 of the token, which is stored nowhere
  created_by uuid references users on delete set null,
  last_used_at timestamptz,
  created_at timestamptz not null default now()
);
create index scim_tokens_org on scim_tokens (org_id, created_at);
create index scim_tokens_creator on scim_tokens (created_by);

create table scim_users (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  user_name text not null,
  external_id text,
  email text,                  -- in lower case; null: the user name is the address
  display_name text,
  given_name text,
  family_name text,
  formatted_name text,
  active boolean not null,
  -- The account of the member; null: the person has not joined yet.
  user_id uuid references users on delete set null,
  -- The role that the membership had when the directory deactivated it; null: nothing to restore.
  restored_role text check (restored_role in ('viewer', 'member', 'admin')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index scim_users_name on scim_users (org_id, lower(user_name));
create unique index scim_users_user on scim_users (org_id, user_id);
create index scim_users_account on scim_users (user_id);
create index scim_users_email on scim_users (org_id, (lower(coalesce(email, user_name))));
create index scim_users_external on scim_users (org_id, external_id);
create index scim_users_page on scim_users (org_id, created_at, id);

create table scim_groups (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  display_name text not null,
  external_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index scim_groups_name on scim_groups (org_id, lower(display_name));
create index scim_groups_page on scim_groups (org_id, created_at, id);

create table scim_group_members (
  group_id uuid not null references scim_groups on delete cascade,
  user_id uuid not null references scim_users on delete cascade,
  primary key (group_id, user_id)
);
create index scim_group_members_user on scim_group_members (user_id);
