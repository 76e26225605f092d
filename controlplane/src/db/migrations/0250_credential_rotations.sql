-- Rotations of provider credentials with overlap (docs/contract.md#rotation-with-overlap): the current or last one
-- of each account and shared credential.
create table credential_rotations (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  account_id uuid unique references provider_accounts on delete cascade,
  credential_id uuid unique references credentials on delete cascade,
  state text not null
    check (state in ('testing', 'rejected', 'retiring', 'retired', 'rolled_back', 'cancelled')),
  -- testing: the next credential; retiring: the former one; otherwise null.
  key_id text,
  nonce bytea,
  ciphertext bytea,
  keep_seconds integer not null,
  started_at timestamptz not null default now(),
  attempts integer not null default 0,
  next_test_at timestamptz,  -- of a testing one; a control plane that tests moves it ahead
  test_status integer,       -- of the last test; null: no answer
  problem text,              -- why the last test did not accept the credential
  -- When new calls began to carry the next credential. Equals rotated_at of the owner until its credential changes again.
  switched_at timestamptz,
  ended_at timestamptz,
  compromised boolean not null default false,
  check ((account_id is null) <> (credential_id is null)),
  check ((state in ('testing', 'retiring')) = (ciphertext is not null))
);
create index credential_rotations_org on credential_rotations (org_id);
create index credential_rotations_key on credential_rotations (key_id) where key_id is not null;
create index credential_rotations_testing on credential_rotations (next_test_at) where state = 'testing';
create index credential_rotations_retiring on credential_rotations (switched_at) where state = 'retiring';

-- What each data plane reported about calls in flight with the former credential; null: nothing yet.
create table credential_rotation_uses (
  rotation_id uuid not null references credential_rotations on delete cascade,
  data_plane_id text not null,
  calls integer,
  primary key (rotation_id, data_plane_id)
);

-- Calls in flight with a credential before this time end: it is compromised.
alter table provider_accounts add column compromised_before timestamptz;
alter table credentials add column compromised_before timestamptz;
-- Only sessions with this former credential end. Older control planes end all sessions that the row affects.
alter table invalidations add column credential_id uuid, add column credential_version bigint;
