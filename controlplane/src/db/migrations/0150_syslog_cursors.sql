-- Up to where each trail was sent to syslog (SYSLOG_URL). One control plane sends at a time: it holds the row's lock.
create table syslog_cursors (
  stream text primary key,
  at timestamptz not null,
  id uuid not null -- of the last row sent with that time
);
