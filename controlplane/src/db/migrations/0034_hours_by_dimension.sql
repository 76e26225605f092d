-- The hours of an organization by one dimension at a time, made once they are over (ledger/hour-rollups.ts), so that a
-- question about all of it reads a few rows of each hour instead of one per agent, provider, model and key.
create table usage_hourly_by (
  org_id uuid not null,
  dimension text not null check (dimension in ('agent', 'provider', 'model', 'key')),
  hour timestamptz not null,
  project_id uuid not null,
  value text not null,
  requests bigint not null,
  errors bigint not null,
  tokens_in bigint not null,
  tokens_out bigint not null,
  cost_nanos bigint not null,
  duration_ms_sum bigint not null,
  latency_sketch bytea not null,    -- empty but for providers
  primary key (org_id, dimension, hour, project_id, value)
);
alter table usage_hourly_by alter column latency_sketch set storage main;
create index usage_hourly_by_hour on usage_hourly_by using brin (hour) with (pages_per_range = 32, autosummarize = on);

create table usage_hourly_progress (
  only_row boolean primary key default true check (only_row),
  rolled_until timestamptz not null
);
insert into usage_hourly_progress (rolled_until) values ('-infinity');

-- Hours that are over in which something was booked late, as usage_late for days.
create table usage_late_hours (
  id bigint primary key generated always as identity,
  org_id uuid not null,
  hour timestamptz not null
);
create index usage_late_hours_org on usage_late_hours (org_id, hour);
