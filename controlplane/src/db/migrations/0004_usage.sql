-- The ledger (docs/contract.md#usage). Agents, keys and accounts are ids without foreign keys: the ledger outlives them.

create table usage_records (
  id uuid not null,                 -- UUIDv7, made by the data plane
  started_at timestamptz not null,  -- comes with the record, so (started_at, id) is as unique as id
  org_id uuid not null,
  agent_id uuid not null,
  key_id uuid not null,
  provider_slug text not null,
  account_id uuid not null,
  method text not null,
  path text not null,
  status smallint not null,          -- what the agent got
  upstream_status smallint not null, -- 0 = no answer
  error text not null,
  model text not null,
  tokens_in_uncached bigint not null,
  tokens_cache_read bigint not null,
  tokens_cache_write bigint not null,
  tokens_out bigint not null,
  tokens_reasoning bigint not null,
  cost_nanos bigint not null,
  usage_source text not null,
  price_source text not null,
  duration_ms integer not null,
  ttfb_ms integer,
  bytes_in bigint not null,
  bytes_out bigint not null,
  streamed boolean not null,
  websocket boolean not null,
  data_plane_id text not null,
  primary key (started_at, id)
) partition by range (started_at);
-- Pages of /logs come from this index; provider and status ride along, so that those filters and the capped count
-- read no rows of the table.
create index usage_records_agent on usage_records (agent_id, started_at desc, id desc) include (provider_slug, status);
-- Days have partitions of their own, made ahead by the ledger (usage/partitions.ts). The default partition only
-- catches what no day was made for; its rows move to their day when that is made.
create table usage_records_default partition of usage_records default;

create table usage_hourly (
  agent_id uuid not null,
  provider_slug text not null,
  hour timestamptz not null,
  org_id uuid not null,
  requests bigint not null,
  errors bigint not null,
  tokens_in bigint not null,
  tokens_out bigint not null,
  cost_nanos bigint not null,
  duration_ms_sum bigint not null,
  latency_sketch bytea not null,    -- histogram as (bucket, count) pairs; two of them merge by concatenation (usage/sketch.ts)
  primary key (agent_id, hour, provider_slug)
) with (fillfactor = 70);           -- the current hour's rows are updated by every batch: room to do so in place
alter table usage_hourly alter column latency_sketch set storage main;

create table rejections_hourly (
  agent_id uuid not null,
  provider_slug text not null,
  reason text not null,
  hour timestamptz not null,
  org_id uuid not null,
  count bigint not null,
  primary key (agent_id, hour, provider_slug, reason)
);

-- Ids of rejection counts and sightings already booked; pruned after two days.
create table booked_counts (
  id uuid primary key,
  booked_at timestamptz not null default now()
);
create index booked_counts_at on booked_counts (booked_at);

create table month_spend (
  agent_id uuid not null,
  month text not null check (month ~ '^\d{4}-\d{2}$'),
  org_id uuid not null,
  spent_nanos bigint not null,
  primary key (agent_id, month)
) with (fillfactor = 50);

-- Records that could not be booked, kept for the operator; bounded by the ingest.
create table poison_records (
  id text primary key,
  data_plane_id text not null,
  reason text not null,
  record jsonb not null,
  at timestamptz not null default now()
);
