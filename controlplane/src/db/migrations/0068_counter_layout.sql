-- Which layouts of keys in the counter store data planes use (watch/counter-layout.ts, docs/counters.md#upgrade). An
-- installation without organizations has no data planes of the previous release, so it begins with the present layout.
create table counter_layout (
  only_row boolean primary key default true check (only_row),
  stage text not null check (stage in ('both', 'new')),
  began_at timestamptz,                             -- of `new`; null: from the beginning
  previous_seen_at timestamptz not null default now() -- when a data plane of the previous release was last connected
);
insert into counter_layout (stage)
  select case when exists (select from organizations) then 'both' else 'new' end;

-- Control planes of the previous release do not write it, and their data planes write the first layout only.
alter table data_planes add column counter_layout integer not null default 1;
