-- Outages of the counter store that data planes report, for the status. A row without a report of the last seconds is stale.
alter table data_planes
  add column store_away_since timestamptz,
  add column store_reported_at timestamptz,
  add column store_unchecked_calls bigint not null default 0;
