-- Budget rows of agents, projects and organizations (docs/contract.md#budget-rows). The plain monthly row stays in
-- budget_cents_monthly; a row here of the window month without models and tag holds its mode where the older columns
-- cannot: audit, and hard of a project or an organization. Its cents follow budget_cents_monthly.
create table budgets (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  project_id uuid references projects on delete cascade,   -- of the scope project
  agent_id uuid references agents on delete cascade,       -- of the scope agent
  scope text not null generated always as (
    case when agent_id is not null then 'agent' when project_id is not null then 'project' else 'org' end) stored,
  scope_id uuid not null generated always as (coalesce(agent_id, project_id, org_id)) stored,
  time_window text not null check (time_window in ('day', 'week', 'month', 'total')),
  cents bigint not null check (cents between 0 and 1000000000000),
  models text[] not null default '{}',                     -- patterns; empty: every model
  tag text not null default '',                            -- key=value; '': every call
  mode text not null check (mode in ('soft', 'hard', 'audit')),
  position smallint not null default 0,                    -- in the list of the object
  created_at timestamptz not null default now(),
  check (agent_id is null or project_id is null),
  unique (scope_id, time_window, models, tag)
);
create index budgets_org on budgets (org_id);

-- What a row has spent in an instance of its window: 2026-11-28, 2026-W48, 2026-11, or total for runs. Up to 16 slots as
-- in scope_spend_slots, so that concurrent bookings do not wait for each other. Without references: spend outlives rows.
create table budget_spend (
  org_id uuid not null,
  budget_id uuid not null,
  period text not null,
  slot smallint not null,
  spent_nanos bigint not null,
  ledger_nanos bigint not null,   -- the part that no data plane counts
  updated_at timestamptz not null default now(),
  primary key (budget_id, period, slot, org_id)
) with (fillfactor = 50);

-- One row, also where nothing was spent.
create function budget_period_spend(of_org uuid, of_id uuid, of_period text)
returns table (spent_nanos bigint, ledger_nanos bigint) language sql stable as $$
  select least(coalesce(sum(s.spent_nanos), 0), 9223372036854775807)::bigint,
         least(coalesce(sum(s.ledger_nanos), 0), 9223372036854775807)::bigint
    from budget_spend s where s.budget_id = of_id and s.period = of_period and s.org_id = of_org
$$;

-- The instances of a window that are current at a time. A row of all time is counted by months.
create function budget_periods(of_window text, at_time timestamptz)
returns text[] language sql stable as $$
  select case of_window
    when 'day' then array[to_char(at_time at time zone 'UTC', 'YYYY-MM-DD')]
    when 'week' then array[to_char(at_time at time zone 'UTC', 'IYYY-"W"IW')]
    when 'month' then array[to_char(at_time at time zone 'UTC', 'YYYY-MM')]
    else array[to_char(at_time at time zone 'UTC', 'YYYY-MM'),
               to_char((at_time at time zone 'UTC') - interval '1 month', 'YYYY-MM')] end
$$;

-- Limits and settings for new agents, which say nothing else: as in POST /v1/agents.
alter table projects add column agent_defaults jsonb;
alter table organizations add column agent_defaults jsonb;
-- Rate limits that are counted and never reject: rpm, rpd, tpm.
alter table agents add column audit_limits text[] not null default '{}';
-- Calls: tags of the caller, limits in audit mode that would have rejected them, and the run.
alter table usage_records add column tags text not null default '';
alter table usage_records add column would_reject text not null default '';
alter table usage_records add column if not exists run_id uuid;
-- The budget row that rejected the call; null: none.
alter table rejected_calls add column budget_id uuid;
