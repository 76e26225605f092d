-- One row for each transaction that booked usage, with a random id that data planes name in their next reports
-- (ledger/marks.ts). Pruned after two hours; the newest row stays.
create table ledger_marks (
  number bigint generated always as identity primary key,
  mark uuid not null default gen_random_uuid(),
  at timestamptz not null default now()
);
