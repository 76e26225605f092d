-- Second factors of users (RFC 6238). A row without `confirmed_at` waits for its first code and protects nothing.
create table second_factors (
  user_id uuid primary key references users on delete cascade,
  key_id text not null,        -- of the master key that encrypts the secret
  nonce bytea not null,
  ciphertext bytea not null,
  -- The step of 30 s of the newest accepted code: no code works twice.
  last_step bigint not null default -1,
  confirmed_at timestamptz,
  created_at timestamptz not null default now()
);
-- For the rotation of master keys. Users belong to no organization, so their own id takes its place.
create view second_factor_secrets as
  select user_id as id, user_id as org_id, key_id, nonce, ciphertext from second_factors;

-- A used code is deleted.
create table recovery_codes (
  user_id uuid not null references users on delete cascade,
  code_hash bytea not null,
  primary key (user_id, code_hash)
);

-- When a code of the second factor was last verified in the session; null: never.
alter table sessions add column factor_at timestamptz;
alter table organizations add column require_second_factor boolean not null default false;
