-- The newest attempts of a delivery, oldest first: instant, status, failure, duration and the start of the response.
alter table webhook_deliveries add column attempt_log jsonb not null default '[]';
-- How the body is written: the event itself, or a message of a chat.
alter table webhook_endpoints
  add column kind text not null default 'webhook' check (kind in ('webhook', 'slack', 'teams'));
