-- Answers of POSTs that carried an Idempotency-Key, kept for a day. Each row commits with the effect of its call. No secret
-- is in it: a token made by such a call is derived from a server key, the salt and the caller's key, which is only hashed.
create table idempotency_keys (
  org_id uuid not null references organizations on delete cascade,
  -- Of the user or the management token; no foreign key, it goes after a day anyway.
  actor_id uuid not null,
  key_hash bytea not null,
  salt bytea not null,
  fingerprint bytea not null, -- keyed, of path and body: a body may hold a password
  secret_hashes bytea[] not null,
  status integer not null,
  body text not null,
  created_at timestamptz not null default now(),
  primary key (org_id, actor_id, key_hash)
);
create index idempotency_keys_age on idempotency_keys (created_at);
