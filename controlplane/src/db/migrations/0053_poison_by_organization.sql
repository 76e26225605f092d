-- Records that could not be booked are kept organization by organization, so that none pushes out those of another.
alter table poison_records add column org_id uuid not null default '00000000-0000-0000-0000-000000000000'; -- not known
update poison_records set org_id = of.org_id::uuid
  from (select id, lower(coalesce(record ->> 'orgId', record -> 'kind' ->> 'orgId')) as org_id from poison_records) of
 where of.id = poison_records.id and of.org_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
create index poison_records_org on poison_records (org_id);
