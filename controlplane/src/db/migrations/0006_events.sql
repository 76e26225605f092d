-- Events (outbox), webhook endpoints and deliveries (SPEC §6, DESIGN §10).

create table events (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  event text not null,
  data jsonb not null,
  occurred_at timestamptz not null default now(),
  fanned_out_at timestamptz
);
create index events_pending on events (occurred_at) where fanned_out_at is null;

-- A fact that may fire once only, e.g. `budget:{agentId}:2026-11`.
create table event_facts (
  fact text primary key,
  at timestamptz not null default now()
);

create table webhook_endpoints (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  url text not null,
  events text[] not null,
  status text not null default 'active' check (status in ('active', 'paused')),
  key_id text not null,      -- the signing secret, encrypted like a credential
  nonce bytea not null,
  ciphertext bytea not null,
  created_at timestamptz not null default now()
);
create index webhook_endpoints_org on webhook_endpoints (org_id, created_at desc, id desc);
create index webhook_endpoints_key on webhook_endpoints (key_id);

create table webhook_deliveries (
  id uuid primary key,
  endpoint_id uuid not null references webhook_endpoints on delete cascade,
  org_id uuid not null,
  event_id uuid not null,
  event text not null,
  payload text not null,       -- the raw body that is signed and sent
  status text not null default 'pending' check (status in ('pending', 'success', 'failed')),
  status_code integer,
  error text,                  -- class of the failure, never the receiver's answer
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  leased_until timestamptz,
  lease uuid,
  last_attempt_at timestamptz,
  created_at timestamptz not null default now(),
  unique (endpoint_id, event_id)
);
create index webhook_deliveries_due on webhook_deliveries (next_attempt_at) where status = 'pending';
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, created_at desc, id desc);
