-- Sessions are rows, so that each of them can be seen and ended. The token of one from before has no `sid` and holds by
-- users.session_version until its end.
create table sessions (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  -- Where it acts, or acted last: a bearer token names its organization itself.
  org_id uuid references organizations on delete set null,
  kind text not null check (kind in ('api', 'browser', 'cli')),
  -- Of the newest bearer token; the one before it is good until `previous_until`.
  generation integer not null default 1,
  previous_until timestamptz,
  -- SHA-256 of a browser's cookie. A session has either a cookie or bearer tokens.
  secret_hash bytea unique check ((secret_hash is null) = (kind <> 'browser')),
  -- Approved for a device: no more than this role, in `org_id` alone.
  role_max text check (role_max in ('owner', 'admin', 'member', 'viewer')),
  -- When the user last gave the password in it; null: never.
  authenticated_at timestamptz,
  ip text not null,
  user_agent text not null,
  created_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index sessions_user on sessions (user_id, last_seen_at);
create index sessions_expiry on sessions (expires_at);
