-- Rollups of whole days, made of the hourly ones once a day is over (usage/daily-rollups.ts): reports over long periods
-- read a row where there were 24. Days before `rolled_until` are in there completely, also what was booked late.
create table usage_daily (
  agent_id uuid not null,
  provider_slug text not null,
  day timestamptz not null,         -- midnight, UTC
  org_id uuid not null,
  requests bigint not null,
  errors bigint not null,
  tokens_in bigint not null,
  tokens_out bigint not null,
  cost_nanos bigint not null,
  duration_ms_sum bigint not null,
  latency_sketch bytea not null,
  primary key (agent_id, day, provider_slug)
);
alter table usage_daily alter column latency_sketch set storage main;

create table usage_daily_progress (
  only_row boolean primary key default true check (only_row),
  rolled_until timestamptz not null
);
insert into usage_daily_progress (rolled_until) values ('-infinity');

-- A day's rows of all agents; rows are written in order of time, so a summary per block range is enough.
create index usage_hourly_hour on usage_hourly using brin (hour) with (pages_per_range = 32, autosummarize = on);

-- For the search in logs of closed days (usage/search-index.ts). A server without it searches by reading.
do $$
begin
  create extension if not exists pg_trgm;
exception when others then
  raise notice 'pg_trgm is not available: %', sqlerrm;
end
$$;
