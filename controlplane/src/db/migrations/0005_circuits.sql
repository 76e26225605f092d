-- Circuit breakers, one per provider and upstream origin, counted over the whole fleet (DESIGN §10).

create table circuits (
  circuit_key text primary key,
  provider_slug text not null,
  org_id uuid references organizations on delete cascade, -- custom providers only
  state text not null default 'CLOSED' check (state in ('CLOSED', 'HALF_OPEN', 'OPEN')),
  epoch bigint not null default 1,  -- raised by each transition; results of an older epoch are ignored
  open_until timestamptz,
  probes_good integer not null default 0,
  last_used_at timestamptz not null default now(),
  changed_at timestamptz not null default now()
);

-- Outcomes per second, circuit and organization; older than the window is deleted.
create table circuit_outcomes (
  circuit_key text not null references circuits on delete cascade,
  org_id uuid not null,
  second timestamptz not null,
  requests integer not null,
  failures integer not null,
  primary key (circuit_key, second, org_id)
);

create table circuit_probes (
  lease uuid primary key,
  circuit_key text not null references circuits on delete cascade,
  epoch bigint not null,
  data_plane_id text not null,
  expires_at timestamptz not null
);
create index circuit_probes_circuit on circuit_probes (circuit_key, epoch);
