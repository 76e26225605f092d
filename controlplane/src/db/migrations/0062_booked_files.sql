-- Result files whose lines were booked. 60 days after the last new line of a file its rows in booked_lines become this one
-- row: `closed` (ledger/booked-files.ts). The source is a digest of provider and file.
create table booked_files (
  org_id uuid not null,
  source bytea not null,
  last_at timestamptz not null default now(),
  closed boolean not null default false,
  primary key (org_id, source)
);
create index booked_files_open on booked_files (last_at) where not closed;

-- Of a line of a result file; null in rows from before and of background answers, which stay. Its index is made in the
-- background, without stopping bookings.
alter table booked_lines add column source bytea;
