-- Circuit breakers, one per provider and upstream origin, counted over the whole fleet (docs/contract.md#circuits).
-- All times are the database's, so control planes with different clocks agree.

create table circuits (
  circuit_key text primary key,     -- see circuit/circuit-key.ts
  provider_slug text not null,
  org_id uuid references organizations on delete cascade, -- custom providers only
  state text not null default 'CLOSED' check (state in ('CLOSED', 'HALF_OPEN', 'OPEN')),
  epoch bigint not null default 1,  -- raised by each transition; results of an older epoch are ignored
  open_until timestamptz,           -- OPEN: when the cooldown ends
  probes_good integer not null default 0, -- HALF_OPEN: good probes of this epoch
  last_used_at timestamptz not null default now(),
  changed_at timestamptz not null default now()
);
create index circuits_open on circuits (open_until) where state = 'OPEN';
create index circuits_not_closed on circuits (changed_at) where state <> 'CLOSED';
create index circuits_used on circuits (last_used_at);

-- Outcomes per second, circuit, organization and writer (a control-plane process: its rows are its own, so writers
-- never wait for each other); older than the window is deleted.
create table circuit_outcomes (
  circuit_key text not null references circuits on delete cascade,
  epoch bigint not null,
  second timestamptz not null,
  org_id uuid not null,
  writer uuid not null,
  requests integer not null,
  failures integer not null,
  primary key (circuit_key, epoch, second, org_id, writer)
);
create index circuit_outcomes_second on circuit_outcomes (second);

-- The probe places of a HALF_OPEN circuit that are taken.
create table circuit_probes (
  lease uuid primary key,
  circuit_key text not null references circuits on delete cascade,
  epoch bigint not null,
  data_plane_id text not null,
  expires_at timestamptz not null
);
create index circuit_probes_circuit on circuit_probes (circuit_key, epoch);

-- The circuit an account's calls belong to, so that its events reach every organization on that origin.
alter table provider_accounts add column circuit_key text;
create index provider_accounts_circuit on provider_accounts (circuit_key);
create index provider_accounts_provider on provider_accounts (provider_slug, org_id);
