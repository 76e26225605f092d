-- A program without a browser asks to be let in; its user types the short code into a page and approves. Both codes are
-- hashed, work once and end after ten minutes.
create table device_logins (
  id uuid primary key,
  device_code_hash bytea not null unique,
  user_code_hash bytea not null unique,
  -- What the program says of itself; nobody has checked it.
  client text not null,
  hostname text not null,
  ip text not null,
  status text not null default 'pending' check (status in ('pending', 'approved', 'denied')),
  user_id uuid references users on delete cascade,
  -- users.session_version at the approval: a reset in between wins.
  session_version integer,
  org_id uuid references organizations on delete cascade,
  role text check (role in ('owner', 'admin', 'member', 'viewer')),
  polled_at timestamptz,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index device_logins_expiry on device_logins (expires_at);
