-- The newest rejected calls of each agent, for administrators: a sample, bounded per agent, kept for 30 days.
create table rejected_calls (
  org_id uuid not null,
  agent_id uuid not null,
  rejected_at timestamptz not null,
  id uuid not null,              -- request id
  key_id uuid not null,
  provider_slug text not null,   -- '': rejected before the provider was known
  reason text not null,
  status smallint not null,
  method text not null,
  path text not null,            -- without the query
  model text not null,           -- '': not known
  tool text not null,            -- '': none
  client_network text not null,  -- IPv4 address or IPv6 /64
  primary key (org_id, id)
);
create index rejected_calls_agent on rejected_calls (org_id, agent_id, rejected_at desc, id desc);
create index rejected_calls_org on rejected_calls (org_id, rejected_at desc, id desc);
create index rejected_calls_at on rejected_calls using brin (rejected_at);
