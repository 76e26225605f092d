-- What connected data planes must hear at once (docs/contract.md#contexts).

-- Writers take pg_advisory_xact_lock(hashtext('invalidations')) as the last step of their transaction, before the
-- insert: revisions then become visible in their own order, and a reader that has seen N never misses one below N.
create table invalidations (
  revision bigint generated always as identity primary key,
  kind text not null check (kind in ('key', 'agent', 'provider', 'org', 'project', 'account')),
  id text not null,
  ends_sessions boolean not null default false,
  at timestamptz not null default now()
);
create index invalidations_at on invalidations (at);

create table data_planes (
  id text primary key,
  counters text not null check (counters in ('memory', 'redis')),
  control_plane_id text not null,
  connection_id uuid not null, -- of this registration: a late clean-up of an older one must not end it
  version text not null,
  connected_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);
