-- Users, organizations, memberships, projects, audit (docs/contract.md#management-api).
-- Ids are UUIDv7 made by the application. Times are timestamptz. States are text with a check.

create table users (
  id uuid primary key,
  email text not null, -- normalised to lower case
  name text not null,
  password_hash text not null,
  email_verified_at timestamptz,
  session_version integer not null default 1, -- raised by a password reset: ends all older sessions
  created_at timestamptz not null default now()
);
create unique index users_email_key on users (email);

create table organizations (
  id uuid primary key,
  name text not null,
  slug text not null unique,
  created_at timestamptz not null default now()
);

-- The organization of the next login's session; switch-org sets it.
alter table users add column active_org_id uuid references organizations on delete set null;

create table memberships (
  org_id uuid not null references organizations on delete cascade,
  user_id uuid not null references users on delete cascade,
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  created_at timestamptz not null default now(),
  primary key (org_id, user_id)
);
create index memberships_user on memberships (user_id);

create table invitations (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  email text not null,
  role text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  token_hash bytea not null unique,
  invited_by uuid references users on delete set null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create unique index invitations_org_email on invitations (org_id, email);

-- Single-use tokens of e-mails, hashed at rest. A used or replaced one is deleted.
create table email_tokens (
  token_hash bytea primary key,
  user_id uuid not null references users on delete cascade,
  purpose text not null check (purpose in ('reset', 'verify')),
  expires_at timestamptz not null,
  created_at timestamptz not null default now()
);
create index email_tokens_user on email_tokens (user_id, purpose);

-- Limits against brute force, shared by all control-plane instances; rows past expires_at are pruned.
-- A counted window per key: auth requests per address, invitations per organization.
create table throttle_windows (
  key text primary key,
  count integer not null,
  expires_at timestamptz not null
);
create index throttle_windows_expiry on throttle_windows (expires_at);
-- The times themselves, for small limits that slide: failed logins per account.
create table throttle_marks (
  key text primary key,
  marked_at timestamptz[] not null,
  expires_at timestamptz not null
);
create index throttle_marks_expiry on throttle_marks (expires_at);
-- The marks of the last seconds, oldest first.
create function live_marks(marks timestamptz[], seconds double precision) returns timestamptz[] language sql stable as $$
  select coalesce(array_agg(mark order by mark), '{}') from unnest(marks) as mark
   where mark > now() - make_interval(secs => seconds)
$$;

create table projects (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  name text not null,
  slug text not null,
  created_at timestamptz not null default now(),
  unique (org_id, slug)
);

create table audit_entries (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  at timestamptz not null default now(),
  actor_user_id uuid,      -- no foreign key: the trail outlives the user
  actor_email text not null,
  action text not null,    -- e.g. agent.create
  target_type text not null,
  target_id text not null,
  ip text not null,
  changes jsonb not null   -- {"field": [before, after]}; never a secret
);
create index audit_entries_org on audit_entries (org_id, at desc, id desc);
