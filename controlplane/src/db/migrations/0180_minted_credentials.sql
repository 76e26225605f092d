-- Credentials that the control plane mints, such as OAuth access tokens: one row per account, per shared credential, or
-- per shared credential and agent. A rotation deletes the rows, so an exchange under way for the former credential has
-- no row to write to.
create sequence minted_generations;

create table minted_credentials (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  account_id uuid unique references provider_accounts on delete cascade,
  credential_id uuid references credentials on delete cascade,
  agent_id uuid references agents on delete cascade,
  -- What was minted; null: nothing yet.
  key_id text,
  nonce bytea,
  ciphertext bytea,
  generation bigint not null default 0,
  scope text,
  minted_at timestamptz,
  expires_at timestamptz,              -- null with a ciphertext: never
  refresh_at timestamptz,              -- null: no refresh in advance
  used boolean not null default false, -- a data plane has received the present generation
  -- One exchange at a time: the holder of the newest fence writes, and only until lease_until may it be under way.
  fence bigint not null default 0,
  lease_until timestamptz not null default '-infinity',
  -- Why the last attempt failed; null: it did not.
  failure text,
  failure_detail text,
  failed_at timestamptz,
  failures integer not null default 0,
  next_attempt_at timestamptz not null default '-infinity',
  reported boolean not null default false, -- an event has named the failure
  rejected_at timestamptz,             -- the last exchange that a 401 of the provider caused
  check ((account_id is null) <> (credential_id is null)),
  check (agent_id is null or credential_id is not null)
);
create unique index minted_credentials_shared
  on minted_credentials (credential_id, coalesce(agent_id, '00000000-0000-0000-0000-000000000000'))
  where credential_id is not null;
create index minted_credentials_org on minted_credentials (org_id);
create index minted_credentials_agent on minted_credentials (agent_id) where agent_id is not null;
create index minted_credentials_due on minted_credentials (refresh_at) where refresh_at is not null and used;
