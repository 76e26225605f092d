-- Usage by tag and day without the agent: reports of an organization over 90 days read one row per value and day instead
-- of one per value, day and agent. ledger/tag-daily-rollups.ts writes it; days before the mark are in it.
create table usage_tags_daily (
  org_id uuid not null,
  key text not null,
  day date not null,                -- UTC
  value text not null,
  project_id uuid,                  -- null: not known
  requests bigint not null,
  errors bigint not null,
  tokens_in bigint not null,
  tokens_out bigint not null,
  cost_nanos bigint not null,
  duration_ms_sum bigint not null
);
create index usage_tags_daily_key on usage_tags_daily (org_id, key, day);
create index usage_tags_daily_day on usage_tags_daily using brin (day);

create table usage_tags_progress (
  rolled_until date not null
);
insert into usage_tags_progress values ('-infinity');

-- Days with bookings after their end, as usage_late. The trigger also marks bookings of control planes of the previous
-- release, which know usage_late only.
create table usage_tags_late (
  id bigint primary key generated always as identity,
  org_id uuid not null,
  day date not null
);
create index usage_tags_late_org on usage_tags_late (org_id, day);

create function mark_late_tag_days() returns trigger language plpgsql as $$
begin
  insert into usage_tags_late (org_id, day)
    select distinct org_id, (day at time zone 'UTC')::date from late;
  return null;
end $$;
create trigger usage_late_marks_tag_days after insert on usage_late
  referencing new table as late for each statement execute function mark_late_tag_days();

-- Reports of agents.
create index usage_tags_agent on usage_tags (org_id, agent_id, key, day);
