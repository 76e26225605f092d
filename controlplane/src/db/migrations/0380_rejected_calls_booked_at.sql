-- When a rejected call was stored. Data planes keep rejected calls while no control plane responds, so rows with an old
-- rejected_at appear later; the stream to syslog follows this time. Null: stored before this migration.
alter table rejected_calls add column booked_at timestamptz;
alter table rejected_calls alter column booked_at set default now();
create index rejected_calls_booked on rejected_calls using brin ((coalesce(booked_at, rejected_at)));

-- The new cursor begins where the old one is, which control planes of the previous release go on to use: during the
-- upgrade rows may arrive twice.
insert into syslog_cursors (stream, at, id)
  select 'rejection_booked', at, id from syslog_cursors where stream = 'rejection';
