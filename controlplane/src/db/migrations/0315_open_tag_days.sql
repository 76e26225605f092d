-- Usage by tag and day without the agent, for days that usage_tags_daily does not have yet (ledger/open-tag-days.ts).
create table usage_tags_open (
  org_id uuid not null,
  key text not null,
  day date not null,                -- UTC
  value text not null,
  project_id uuid not null,         -- the nil UUID: not known
  requests bigint not null,
  errors bigint not null,
  tokens_in bigint not null,
  tokens_out bigint not null,
  cost_nanos bigint not null,
  duration_ms_sum bigint not null,
  primary key (org_id, key, day, value, project_id)
) with (fillfactor = 50);

-- The first day that usage_tags_open has as a whole. Control planes of the previous release do not book into it, so an
-- upgrade has until the end of the next UTC day; days before are read from usage_tags.
alter table usage_tags_progress add column open_since date not null default '-infinity';
update usage_tags_progress set open_since = (now() at time zone 'UTC')::date + 2 where exists (select from usage_tags);
