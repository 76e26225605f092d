-- Rows that were taken out of their tables when the mailbox of an unconfirmed account was proven for the first time
-- (docs/access.md). Nothing reads them from here but the review, so nothing of them works until an owner keeps them.
create table suspended_items (
  id uuid primary key,          -- the row's own id where it has one: ciphertexts are bound to it
  org_id uuid not null references organizations on delete cascade,
  kind text not null,
  name text not null,           -- what the review shows
  detail text not null,
  contents jsonb not null,      -- the row, without its ciphertext
  key_id text,                  -- of the master key, where the row has a ciphertext
  nonce bytea,
  ciphertext bytea,
  made_at timestamptz not null,
  suspended_at timestamptz not null default now()
);
create index suspended_items_org on suspended_items (org_id, kind, made_at desc, id desc);
create index suspended_items_key on suspended_items (key_id) where key_id is not null;

-- For the rotation of master keys, which seals each kind under a purpose of its own.
create view suspended_accounts as
  select id, org_id, key_id, nonce, ciphertext from suspended_items where kind = 'account' and key_id is not null;
create view suspended_credentials as
  select id, org_id, key_id, nonce, ciphertext from suspended_items where kind = 'credential' and key_id is not null;
create view suspended_webhooks as
  select id, org_id, key_id, nonce, ciphertext from suspended_items where kind = 'webhook' and key_id is not null;
