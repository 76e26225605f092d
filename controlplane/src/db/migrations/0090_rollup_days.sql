-- For ROLLUP_RETENTION_DAYS: finds the oldest days without reading the whole table. Days are written in order.
create index usage_daily_day on usage_daily using brin (day) with (pages_per_range = 32, autosummarize = on);
create index usage_daily_by_day on usage_daily_by using brin (day) with (pages_per_range = 32, autosummarize = on);
