-- Logs of a whole organization are read in the order of this key. It costs no index more: ids are as unique with the
-- organization before them. Rebuilds the index of each day.
alter table usage_records drop constraint usage_records_pkey;
alter table usage_records add primary key (org_id, started_at, id);
