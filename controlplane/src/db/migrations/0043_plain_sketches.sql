-- Sketches of an hour grow with every booking: to compress them each time beyond 2 kB was a tenth of what a record costs.
alter table usage_hourly set (toast_tuple_target = 8160);
