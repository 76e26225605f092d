-- Rejected calls that wait for the next `calls.rejected` event of their organization (docs/webhooks.md#rejected-calls): one
-- row for any number of calls of one agent, provider and reason. Only of organizations with an endpoint for that event.
-- Without references: the sender deletes the rows of organizations that are gone.
create table rejection_summaries (
  org_id uuid not null,
  agent_id uuid not null,
  provider_slug text not null,   -- '': rejected before the provider was known
  reason text not null,
  count bigint not null,
  first_minute timestamptz not null,
  last_minute timestamptz not null,
  last_call jsonb,               -- the newest call that is known; null: none was sampled
  added_at timestamptz not null default now(),
  primary key (org_id, agent_id, provider_slug, reason)
) with (fillfactor = 50);
