-- Days of the ledger in the archive (docs/contract.md#archive). A partition is dropped only when every organization in it
-- has a row here with the same count and sum.
create table archive_days (
  org_id uuid not null,               -- without a foreign key: the archive outlives the organization
  day date not null,
  rows bigint not null,
  cost_nanos bigint not null,
  files integer not null,
  bytes bigint not null,
  verified_at timestamptz not null,   -- when all files were read back
  primary key (org_id, day)
);
create index archive_days_day on archive_days (day);

-- Days whose organizations are all archived, so that the hourly run need not count their records again.
create table archive_complete_days (
  day date primary key,
  completed_at timestamptz not null default now()
);
