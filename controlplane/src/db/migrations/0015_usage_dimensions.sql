-- Usage by model, key and project, for agents that are gone, too.

-- Null in records that came without it.
alter table usage_records add column project_id uuid;

-- The nil UUID and '' stand for what is not known: rows from before, calls without a model.
alter table usage_hourly
  add column project_id uuid not null default '00000000-0000-0000-0000-000000000000',
  add column model text not null default '',
  add column key_id uuid not null default '00000000-0000-0000-0000-000000000000';
update usage_hourly h set project_id = a.project_id from agents a where a.id = h.agent_id;
alter table usage_hourly drop constraint usage_hourly_pkey;
alter table usage_hourly add primary key (agent_id, hour, provider_slug, model, key_id);
create index usage_hourly_org on usage_hourly (org_id, hour);
create index rejections_hourly_org on rejections_hourly (org_id, hour);

-- Made of the hours anew (ledger/daily-rollups.ts): the hours have never been trimmed before.
drop table usage_daily;
create table usage_daily (
  agent_id uuid not null,
  day timestamptz not null,         -- midnight, UTC
  provider_slug text not null,
  model text not null,
  key_id uuid not null,
  org_id uuid not null,
  project_id uuid not null,
  requests bigint not null,
  errors bigint not null,
  tokens_in bigint not null,
  tokens_out bigint not null,
  cost_nanos bigint not null,
  duration_ms_sum bigint not null,
  latency_sketch bytea not null,
  primary key (agent_id, day, provider_slug, model, key_id)
);
alter table usage_daily alter column latency_sketch set storage main;
create index usage_daily_org on usage_daily (org_id, day);
update usage_daily_progress set rolled_until = '-infinity';

-- The days of an organization by one dimension at a time, so that a question about all of it reads few rows.
create table usage_daily_by (
  org_id uuid not null,
  dimension text not null check (dimension in ('agent', 'provider', 'model', 'key')),
  day timestamptz not null,
  project_id uuid not null,
  value text not null,
  requests bigint not null,
  errors bigint not null,
  tokens_in bigint not null,
  tokens_out bigint not null,
  cost_nanos bigint not null,
  duration_ms_sum bigint not null,
  latency_sketch bytea not null,    -- empty but for providers
  primary key (org_id, dimension, day, project_id, value)
);
alter table usage_daily_by alter column latency_sketch set storage main;

-- Past days of organizations in which something was booked after the day was over, one row per booking: until such a day
-- has been added up anew, reports read its hours.
create table usage_late (
  id bigint primary key generated always as identity,
  org_id uuid not null,
  day timestamptz not null
);
create index usage_late_org on usage_late (org_id, day);

-- The part of the month's spend that only the ledger knows how to count: no data plane adds it to its own.
alter table month_spend add column ledger_nanos bigint not null default 0;
