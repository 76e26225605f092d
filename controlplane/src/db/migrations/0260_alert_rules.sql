-- Alert rules (docs/contract.md#alert-rules): a measure of the last hours against the same hours of the week before.
create table alert_rules (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  name text not null,
  metric text not null check (metric in ('error_rate', 'latency', 'spend')),
  project_id uuid references projects on delete cascade,  -- both null: the organization
  agent_id uuid references agents on delete cascade,
  window_hours integer not null check (window_hours between 1 and 24),
  increase_percent integer not null check (increase_percent between 1 and 10000),
  at_least double precision not null check (at_least > 0),
  enabled boolean not null default true,
  silenced_until timestamptz,
  silenced_by uuid references users on delete set null,
  revision integer not null default 1,                    -- an evaluation that began under an earlier one has no effect
  evaluated_at timestamptz,
  value double precision,                                 -- of the last evaluation; null: not enough calls
  baseline double precision,                              -- of the week before; null: not enough calls
  created_at timestamptz not null default now(),
  created_by uuid references users on delete set null,
  check (project_id is null or agent_id is null)
);
create index alert_rules_org on alert_rules (org_id, created_at desc, id desc);
create index alert_rules_due on alert_rules (evaluated_at nulls first) where enabled;
create index alert_rules_project on alert_rules (project_id) where project_id is not null;
create index alert_rules_agent on alert_rules (agent_id) where agent_id is not null;

-- One row for each time that a rule was met. The values are those of the last evaluation that met the rule.
create table alerts (
  id uuid primary key,
  org_id uuid not null references organizations on delete cascade,
  rule_id uuid not null references alert_rules on delete cascade,
  opened_at timestamptz not null default now(),
  met_at timestamptz not null default now(),              -- of the last evaluation that met the rule
  notified_at timestamptz,                                -- null: no event, because the rule was silenced
  resolved_at timestamptz,
  value double precision not null,
  baseline double precision,
  acknowledged_at timestamptz,
  acknowledged_by uuid references users on delete set null
);
create unique index alerts_open on alerts (rule_id) where resolved_at is null;
create index alerts_org on alerts (org_id, opened_at desc, id desc);
create index alerts_resolved on alerts (resolved_at) where resolved_at is not null;
