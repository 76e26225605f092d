-- When an organization last had a success on a circuit that others use as well: without one it has no say over them.
create table circuit_successes (
  circuit_key text not null references circuits on delete cascade,
  org_id uuid not null,
  at timestamptz not null,          -- right to a few minutes
  primary key (circuit_key, org_id)
);
create index circuit_successes_at on circuit_successes (at);
