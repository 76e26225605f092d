-- Keys with which the gateway signs tokens as an OpenID Connect issuer of one organization. The newest key whose
-- active_from has passed signs; 'infinity': a person must activate it.
create table issuer_keys (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  public_jwk jsonb not null,
  -- The private key.
  key_id text not null,
  nonce bytea not null,
  ciphertext bytea not null,
  created_at timestamptz not null default now(),
  active_from timestamptz not null
);
create index issuer_keys_org on issuer_keys (org_id, active_from);
create index issuer_keys_age on issuer_keys (created_at);
-- The providers cannot reach the issuer, so a person uploads each new key to them.
alter table organizations add column issuer_manual_rotation boolean not null default false;
