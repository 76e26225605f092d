-- Runs: tasks with a budget and an end (docs/contract.md#runs). A run's spend is in `budget_spend`, under the run's id.
create table runs (
  id uuid primary key,
  org_id uuid not null references organizations (id) on delete cascade,
  agent_id uuid not null references agents (id) on delete cascade,
  -- The gateway token that started the run or its top run, or the trust rule whose key did: the run ends with it. Both
  -- null: started by the management API.
  key_id uuid references api_keys (id) on delete cascade,
  trust_rule_id uuid references trust_rules (id) on delete cascade,
  -- Of the run itself for a top run.
  root_id uuid not null,
  -- Parent first, root last; at most three.
  ancestors uuid[] not null default '{}',
  label text not null default '',
  budget_cents bigint not null check (budget_cents > 0),
  -- What the run may call, beside the policies of its ancestors and its agent. Null: what they may.
  policy jsonb,
  token_hash bytea not null unique,
  key_prefix text not null,
  created_at timestamptz not null,
  created_by uuid references users (id) on delete set null,
  expires_at timestamptz not null,
  ended_at timestamptz,
  end_reason text check (end_reason in ('ended', 'expired')),
  -- Instant of the event run.budget_exceeded.
  exceeded_at timestamptz,
  check ((ended_at is null) = (end_reason is null))
);
create index runs_by_agent on runs (agent_id, id desc);
create index runs_top_by_organization on runs (org_id, id desc) where ancestors = '{}';
create index runs_by_root on runs (root_id, id);
create index runs_by_parent on runs ((ancestors[1]), id) where ancestors <> '{}';
create index runs_by_key on runs (key_id) where key_id is not null;
create index runs_by_trust_rule on runs (trust_rule_id) where trust_rule_id is not null;
create index runs_open_by_root on runs (root_id) where ended_at is null;
create index runs_open_by_organization on runs (org_id) where ended_at is null;
create index runs_open on runs (expires_at) where ended_at is null;
create index runs_ended on runs (org_id, ended_at) where ended_at is not null;
-- Audit entries of a run are deleted with it.
create index audit_entries_of_runs on audit_entries (target_id) where target_type = 'run';
-- Booked calls of a budget row, shown for runs.
create index budget_spend_updated on budget_spend using brin (updated_at);
alter table budget_spend add column if not exists calls bigint not null default 0;
create or replace view key_names as
  select id, org_id, name, key_prefix from api_keys
  union all
  select id, org_id, name, null from trust_rules
  union all
  select id, org_id, 'Run ' || label, key_prefix from runs where key_id is null and trust_rule_id is null;
