-- Usage by tag and day (docs/contract.md#tags), booked with the records. At most 1 000 values of a key and day of an
-- organization have rows of their own, the rest is the value `other`.
create table usage_tags (
  org_id uuid not null,
  key text not null,
  day date not null,                -- UTC
  value text not null,
  agent_id uuid not null,
  project_id uuid,                  -- null: not known
  requests bigint not null,
  errors bigint not null,
  tokens_in bigint not null,
  tokens_out bigint not null,
  cost_nanos bigint not null,
  duration_ms_sum bigint not null,
  primary key (org_id, key, day, value, agent_id)
) with (fillfactor = 70);
create index usage_tags_day on usage_tags using brin (day);

-- The values that have rows of their own.
create table usage_tag_values (
  org_id uuid not null,
  day date not null,
  key text not null,
  value text not null,
  primary key (org_id, day, key, value)
);
create index usage_tag_values_day on usage_tag_values using brin (day);
