-- A partition can only be detached without stopping its readers where there is no default one. Records outside the days
-- that the ledger makes are refused before they come here; what lies in the default partition gets its day now.
do $$
declare
  day date;
  name text;
begin
  alter table usage_records detach partition usage_records_default;
  for day in select distinct (started_at at time zone 'UTC')::date from usage_records_default loop
    name := 'usage_records_' || to_char(day, 'YYYYMMDD');
    execute format('create table %I (like usage_records including all)', name);
    execute format('insert into %I select * from usage_records_default where (started_at at time zone ''UTC'')::date = %L',
      name, day);
    execute format('alter table usage_records attach partition %I for values from (%L) to (%L)',
      name, day || ' 00:00:00+00', (day + 1) || ' 00:00:00+00');
  end loop;
  drop table usage_records_default;
end
$$;
