-- Endpoints that do nothing but fail are paused in the end.
alter table webhook_endpoints
  add column failing_since timestamptz,               -- of the first failure after the last success
  add column failed_attempts integer not null default 0, -- since then
  add column paused_reason text check (paused_reason in ('failing'));
