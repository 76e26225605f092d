-- Events (outbox), webhook endpoints and deliveries (docs/contract.md#events).

create table events (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  event text not null,
  data json not null,        -- json, not jsonb: sent as it was written, keys in their order
  occurred_at timestamptz not null default now(),
  fanned_out_at timestamptz
);
create index events_pending on events (occurred_at) where fanned_out_at is null;
create index events_done on events (fanned_out_at) where fanned_out_at is not null;

-- A fact that may fire once only, e.g. `budget_exceeded:{agentId}:2026-11`; for abuse, when it fired last.
create table event_facts (
  fact text primary key,
  at timestamptz not null default now()
);
create index event_facts_at on event_facts (at);

-- Refusals and upstream 401/403 per agent and minute; pruned after the window.
create table abuse_counts (
  agent_id uuid not null,
  reason text not null check (reason in ('rejections', 'auth_failures')),
  minute timestamptz not null,
  count bigint not null,
  primary key (agent_id, reason, minute)
);
create index abuse_counts_minute on abuse_counts (minute);

-- Salted hashes of the addresses a gateway token was used from lately; pruned after the window, bounded per token.
create table abuse_addresses (
  key_id uuid not null,
  address_hash bytea not null,
  seen_at timestamptz not null,
  primary key (key_id, address_hash)
);
create index abuse_addresses_seen on abuse_addresses (seen_at);

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

-- The queue. A claim sets `lease` and moves `next_attempt_at` to the lease's end: what a dead worker held is due again
-- by itself, and "pending and next_attempt_at has come" is all that a claim has to look for.
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
  lease uuid,
  last_attempt_at timestamptz,
  created_at timestamptz not null default now(),
  unique (endpoint_id, event_id)
);
create index webhook_deliveries_pending on webhook_deliveries (endpoint_id, next_attempt_at) where status = 'pending';
create index webhook_deliveries_endpoint on webhook_deliveries (endpoint_id, created_at desc, id desc);
create index webhook_deliveries_created on webhook_deliveries (created_at);
